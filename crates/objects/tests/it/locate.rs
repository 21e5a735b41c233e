//! The search over real folders.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::elf;
use oxperf_abi::BuildId;
use oxperf_objects::{
    BuildIdCache, CacheFile, Elf, Locator, ObjectKind, ObjectOrigin, ObjectQuery, Rejection,
    SearchPaths,
};

/// A folder that vanishes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("oxperf-locate-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    fn places(&self) -> SearchPaths {
        SearchPaths {
            root: Some(self.0.clone()),
            ..SearchPaths::default()
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn id(byte: u8) -> BuildId {
    BuildId::new(&[byte; 20]).expect("twenty bytes")
}

fn program(byte: u8, with_symbols: bool) -> Vec<u8> {
    let mut sections = vec![elf::loaded(
        ".note.gnu.build-id",
        7,
        0x400000,
        elf::build_id_note(&[byte; 20]),
    )];
    if with_symbols {
        let (table, strings) = elf::symbol_table(&[("main", 0x401000, 16, 0x12, 1)]);
        let symtab = elf::ElfSection {
            link: 3,
            entry_size: 24,
            flags: 0,
            ..elf::loaded(".symtab", 2, 0, table)
        };
        sections.push(symtab);
        sections.push(elf::ElfSection {
            flags: 0,
            ..elf::loaded(".strtab", 3, 0, strings)
        });
    }
    elf::file(3, (0x400000, 0x1000, 0x10000), &sections)
}

fn user(path: &str, build_id: Option<BuildId>) -> ObjectQuery<'_> {
    ObjectQuery {
        path: path.as_bytes(),
        build_id,
        kind: ObjectKind::User,
        process: None,
    }
}

#[test]
fn only_the_recorded_version_is_found() {
    let folder = Folder::new("version");
    folder.put("usr/bin/x", &program(7, false));
    let locator = Locator::new(folder.places());
    let found = locator
        .image(&user("/usr/bin/x", Some(id(7))))
        .expect("the same build id");
    assert_eq!(found.origin, ObjectOrigin::RecordedPath);
    assert!(locator.image(&user("/usr/bin/x", None)).is_ok());
    let other = locator
        .image(&user("/usr/bin/x", Some(id(8))))
        .expect_err("another version");
    assert_eq!(other.other_version().map(|(_, found)| found), Some(id(7)));
    assert_eq!(
        other.tried,
        [(
            folder.0.join("usr/bin/x"),
            Rejection::BuildIdDiffers { found: id(7) }
        )]
    );
}

#[test]
fn a_deleted_file_is_known_by_its_build_id_alone() {
    let folder = Folder::new("deleted");
    folder.put("usr/bin/x", &program(7, false));
    let locator = Locator::new(folder.places());
    let deleted = |build_id| locator.image(&user("/usr/bin/x (deleted)", build_id));
    let found = deleted(Some(id(7))).expect("the file came back, or is another link to it");
    assert_eq!(
        (found.origin, found.path),
        (ObjectOrigin::RecordedPath, folder.0.join("usr/bin/x"))
    );
    assert!(
        deleted(Some(id(8)))
            .expect_err("a later version")
            .other_version()
            .is_some()
    );
    assert!(
        deleted(None).is_err(),
        "nothing proves that it is the one that ran"
    );
}

#[test]
fn a_file_whose_name_is_no_text_is_known_by_its_build_id_alone() {
    let folder = Folder::new("unreadable");
    let bytes = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
    let place = folder.0.join(bytes(b"usr/\xff\xfebad/x\xe9"));
    fs::create_dir_all(place.parent().expect("a parent")).expect("a folder");
    fs::write(&place, program(7, false)).expect("a file");
    fs::write(place.with_file_name(bytes(b"x\xe8")), program(9, false))
        .expect("a file that reads like it");
    let locator = Locator::new(folder.places());
    let found = |build_id| locator.image(&user("/usr/\u{fffd}\u{fffd}bad/x\u{fffd}", build_id));
    assert_eq!(found(Some(id(7))).expect("the recorded one").path, place);
    assert!(found(Some(id(8))).is_err());
    assert!(found(None).is_err(), "nothing proves which it is");
}

#[test]
fn a_file_is_found_as_the_living_process_sees_it() {
    let program = std::fs::read("/proc/self/exe").expect("this program");
    let Some(build_id) = Elf::parse(&program).expect("an ELF file").build_id() else {
        eprintln!("skipped: this program was linked without a build id");
        return;
    };
    let process = Some(std::process::id());
    let wanted = ObjectQuery {
        process,
        ..user("/only/in/the/container (deleted)", Some(build_id))
    };
    assert_eq!(
        Locator::default()
            .image(&wanted)
            .expect("by its process")
            .origin,
        ObjectOrigin::LiveProcess
    );
    assert!(
        Locator::default()
            .image(&ObjectQuery {
                build_id: Some(id(9)),
                ..wanted
            })
            .is_err()
    );
    assert!(
        Locator::default()
            .image(&ObjectQuery {
                build_id: None,
                ..wanted
            })
            .is_err()
    );
    let rooted = Locator::new(SearchPaths {
        root: Some(PathBuf::from("/nowhere")),
        ..SearchPaths::default()
    });
    assert!(
        rooted.image(&wanted).is_err(),
        "a root says that the recording is from elsewhere"
    );
}

#[test]
fn the_build_id_cache_comes_first_and_a_root_hides_it() {
    let folder = Folder::new("cache");
    let cache = BuildIdCache::new(folder.0.join("cache"));
    cache
        .add_from(
            b"/usr/bin/x",
            id(7),
            CacheFile::Elf,
            &mut &program(7, false)[..],
        )
        .expect("added");
    let cache = Some(cache.root().to_owned());
    let wanted = user("/no/such/file", Some(id(7)));
    let locator = Locator::new(SearchPaths {
        build_id_cache: cache.clone(),
        ..SearchPaths::default()
    });
    assert_eq!(
        locator.image(&wanted).expect("in the cache").origin,
        ObjectOrigin::BuildIdCache
    );
    let rooted = Locator::new(SearchPaths {
        build_id_cache: cache,
        ..folder.places()
    });
    assert!(rooted.image(&wanted).is_err());
}

#[test]
fn the_debug_file_is_found_by_the_images_own_build_id() {
    let folder = Folder::new("debug");
    let image = program(7, false);
    folder.put("usr/bin/x", &image);
    folder.put(
        &format!("usr/lib/debug/.build-id/07/{}.debug", "07".repeat(19)),
        &program(7, true),
    );
    let locator = Locator::new(folder.places());
    let image = Elf::parse(&image).expect("an ELF file");
    let found = locator
        .debug_file(&user("/usr/bin/x", None), Some(&image))
        .expect("a debug file");
    assert!(matches!(found.origin, ObjectOrigin::DebugFile(_)));
    assert!(
        Elf::parse(&found.contents)
            .expect("an ELF file")
            .has_symtab()
    );
}

#[test]
fn a_stripped_copy_in_the_cache_leaves_names_to_the_recorded_path() {
    let folder = Folder::new("stripped");
    let cache = BuildIdCache::new(folder.0.join("cache"));
    let stripped = program(7, false);
    cache
        .add_from(b"/usr/bin/x", id(7), CacheFile::Elf, &mut &stripped[..])
        .expect("added");
    let path = folder.0.join("x");
    folder.put("x", &program(7, true));
    let cache = Some(cache.root().to_owned());
    let locator = Locator::new(SearchPaths {
        build_id_cache: cache,
        ..SearchPaths::default()
    });
    let image = Elf::parse(&stripped).expect("an ELF file");
    let wanted = user(path.to_str().expect("UTF-8"), Some(id(7)));
    assert_eq!(
        locator
            .debug_file(&wanted, Some(&image))
            .expect("with names")
            .path,
        path
    );
    let whole = program(7, true);
    let whole = Elf::parse(&whole).expect("an ELF file");
    assert!(
        locator.debug_file(&wanted, Some(&whole)).is_err(),
        "nothing is missing"
    );
    folder.put("x", &program(8, true));
    assert!(
        locator.debug_file(&wanted, Some(&image)).is_err(),
        "another version"
    );
}

#[test]
fn paths_do_not_climb_out_of_the_root() {
    let folder = Folder::new("climb");
    folder.put("secret", &program(7, false));
    let locator = Locator::new(SearchPaths {
        root: Some(folder.0.join("fs")),
        ..SearchPaths::default()
    });
    let refused = locator
        .image(&user("/../secret", None))
        .expect_err("outside");
    assert_eq!(
        refused.tried,
        [(PathBuf::from("/../secret"), Rejection::OutsideRoot)]
    );
}

#[test]
fn what_is_no_program_is_refused_with_its_reason() {
    let folder = Folder::new("junk");
    folder.put("text", b"hello");
    folder.put("folder/x", b"");
    let locator = Locator::new(folder.places());
    let why = |path: &str| {
        locator
            .image(&user(path, None))
            .expect_err("junk")
            .tried
            .remove(0)
            .1
    };
    assert!(matches!(why("/text"), Rejection::Elf(_)));
    assert!(matches!(why("/folder"), Rejection::NotAFile));
    assert!(matches!(why("/folder/x"), Rejection::Elf(_)));
    assert!(matches!(
        why("/absent"),
        Rejection::Unreadable(std::io::ErrorKind::NotFound)
    ));
}

#[test]
fn every_cut_of_a_file_is_read_or_refused() {
    let whole = program(7, true);
    for end in 0..whole.len() {
        if let Ok(file) = Elf::parse(&whole[..end]) {
            let _ = (file.build_id(), file.debug_link(), file.has_symtab());
        }
    }
}

#[test]
fn the_own_vdso_serves_where_nothing_contradicts() {
    let wanted = ObjectQuery {
        path: b"[vdso]",
        build_id: None,
        kind: ObjectKind::Vdso,
        process: None,
    };
    let Ok(found) = Locator::default().image(&wanted) else {
        eprintln!("skipped: this system has no vdso or hides it");
        return;
    };
    let own = Elf::parse(&found.contents).expect("an ELF file").build_id();
    let locator = Locator::default();
    assert!(
        locator
            .image(&ObjectQuery {
                build_id: Some(id(9)),
                ..wanted
            })
            .is_err()
    );
    assert_eq!(
        locator
            .image(&ObjectQuery {
                build_id: own,
                ..wanted
            })
            .is_ok(),
        own.is_some()
    );
    let rooted = Locator::new(SearchPaths {
        root: Some(Path::new("/nowhere").to_owned()),
        ..SearchPaths::default()
    });
    assert!(rooted.image(&wanted).is_err());
}

/// A file with debug information, and nothing else.
fn debug_information(byte: u8) -> Vec<u8> {
    let sections = [
        elf::loaded(
            ".note.gnu.build-id",
            7,
            0x400000,
            elf::build_id_note(&[byte; 20]),
        ),
        elf::ElfSection {
            flags: 0,
            ..elf::loaded(".debug_info", 1, 0, vec![1; 16])
        },
    ];
    elf::file(3, (0x400000, 0x1000, 0x10000), &sections)
}

#[test]
fn debug_information_of_this_machine_counts_where_its_build_id_is_the_recorded_one() {
    let folder = Folder::new("own-debug");
    let file = |byte: u8| {
        format!(
            "here/.build-id/{byte:02x}/{}.debug",
            format!("{byte:02x}").repeat(19)
        )
    };
    folder.put(&file(7), &debug_information(7));
    // Its name is another's.
    folder.put(&file(8), &debug_information(9));
    let locator = Locator::new(SearchPaths {
        root: Some(folder.0.join("root")),
        debug_files: folder.0.join("here"),
        ..SearchPaths::default()
    });
    let found = locator.debug_info(&user("/usr/bin/x", Some(id(7))), None);
    assert_eq!(found.expect("found").path, folder.0.join(file(7)));
    for unproven in [Some(id(8)), None] {
        assert!(
            locator
                .debug_info(&user("/usr/bin/x", unproven), None)
                .is_err()
        );
    }
    assert!(
        locator
            .debug_file(&user("/usr/bin/x", Some(id(7))), None)
            .is_err(),
        "names come from below the root"
    );
}
