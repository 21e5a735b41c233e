//! What a program is: the file behind a name, and whether its code keeps frame pointers.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use oxperf_capture::Program;
use oxperf_objects::{Contents, Elf};
use oxperf_unwind::FrameSurvey;

/// Most scripts that interpret each other, as the kernel has it.
const MOST_SCRIPTS: usize = 4;
/// Bytes of a `#!` line that the kernel reads.
const LINE_SIZE: u64 = 256;
/// Most shared objects of a program that are looked at.
const MOST_OBJECTS: usize = 256;
/// The folders where shared objects lie that no program names a folder for.
const LIBRARIES: [&str; 9] = [
    "/lib64",
    "/usr/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
];

/// The way in which the code of a program keeps its callers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Frames {
    /// All of it keeps frame pointers.
    Kept(Keeper),
    /// This object keeps none, or is not known.
    NotKept(String),
}

/// The reason why code keeps frame pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keeper {
    /// Go's compiler always does. Its threads change between stacks, so that a copy of one would not do.
    Go,
    /// Unwind tables of the program and its shared objects say so.
    Tables,
}

/// A virtual machine that compiles while it runs, and has options for who looks at its stacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Runtime {
    /// Java of this version, where it is known.
    Java(Option<u32>),
    /// Node.js.
    Node,
}

/// The file that runs where a workload is started: the program, or the interpreter of a script.
pub(super) fn file_of(workload: &Program) -> Option<PathBuf> {
    let search = workload.search_path.as_deref();
    let mut path = find(workload.arguments.first()?, search)?;
    for _ in 0..MOST_SCRIPTS {
        match interpreter(&path, search) {
            Some(next) => path = next,
            None => break,
        }
    }
    Some(path)
}

/// The file of a program's name: the name where it has a slash, else the first in the folders of `PATH`.
fn find(name: &OsStr, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    let runs = |path: &PathBuf| {
        let data = fs::metadata(path);
        data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let folders = std::env::split_paths(search?);
    folders.map(|folder| folder.join(name)).find(runs)
}

/// The program that a script names in its first line; where that is `env`, the one that `env` looks for.
fn interpreter(path: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LINE_SIZE).read_to_end(&mut start).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let mut words = line
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty());
    let first = PathBuf::from(OsStr::from_bytes(words.next()?));
    if first.file_name() != Some(OsStr::new("env")) {
        return Some(first);
    }
    let mut names = words.filter(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    find(OsStr::from_bytes(names.next()?), search)
}

/// The virtual machine that a file is, if it is one.
pub(super) fn runtime(path: &Path) -> Option<Runtime> {
    let real = fs::canonicalize(path).ok()?;
    let contents = Contents::open(&real).ok()?;
    let elf = Elf::parse(&contents).ok()?;
    let name = real.file_name()?.as_bytes();
    let launches_java = elf.dependencies().names.contains(&&b"libjli.so"[..]);
    match name {
        b"java" if launches_java => Some(Runtime::Java(java_version(&real))),
        b"node" | b"nodejs" => Some(Runtime::Node),
        _ => None,
    }
}

/// The version that the file `release` of a Java installation tells.
fn java_version(launcher: &Path) -> Option<u32> {
    let home = launcher.parent()?.parent()?;
    version_in(&fs::read_to_string(home.join("release")).ok()?)
}

fn version_in(release: &str) -> Option<u32> {
    let mut lines = release.lines();
    let version = lines.find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    let digits = version
        .split(|letter: char| !letter.is_ascii_digit())
        .next()?;
    digits.parse().ok()
}

/// How the code of a program and its shared objects keeps its callers.
pub(super) fn frames(program: &Path) -> Frames {
    let mut waiting = vec![program.to_owned()];
    let mut seen: Vec<OsString> = Vec::new();
    while let Some(path) = waiting.pop() {
        let object = match Object::of(&path) {
            Some(object) => object,
            None => return Frames::NotKept(name_of(&path)),
        };
        match object.code {
            Code::Go => return Frames::Kept(Keeper::Go),
            Code::WithoutFramePointers => return Frames::NotKept(name_of(&path)),
            Code::WithFramePointers => {}
        }
        for name in object.needs {
            if seen.contains(&name) {
                continue;
            }
            if seen.len() == MOST_OBJECTS {
                return Frames::NotKept(name.to_string_lossy().into_owned());
            }
            let folders = object.folders.iter().map(PathBuf::as_path);
            let usual = LIBRARIES.iter().map(Path::new);
            let mut places = folders.chain(usual).map(|folder| folder.join(&name));
            match places.find(|place| place.is_file()) {
                Some(place) => waiting.push(place),
                None => return Frames::NotKept(name.to_string_lossy().into_owned()),
            }
            seen.push(name);
        }
    }
    Frames::Kept(Keeper::Tables)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The compiler's way of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    Go,
    WithFramePointers,
    WithoutFramePointers,
}

/// A program or a shared object.
struct Object {
    code: Code,
    needs: Vec<OsString>,
    /// The folders that it wants them from.
    folders: Vec<PathBuf>,
}

impl Object {
    /// `None` where it cannot be read.
    fn of(path: &Path) -> Option<Object> {
        let contents = Contents::open(path).ok()?;
        let elf = Elf::parse(&contents).ok()?;
        let dependencies = elf.dependencies();
        let names = dependencies.names.into_iter();
        let real = fs::canonicalize(path).ok()?;
        let own = real.parent()?;
        let folders = dependencies.folders.into_iter();
        Some(Object {
            code: code(&elf),
            needs: names
                .map(|name| OsStr::from_bytes(name).to_owned())
                .collect(),
            folders: folders.map(|folder| expanded(folder, own)).collect(),
        })
    }
}

fn code(elf: &Elf<'_>) -> Code {
    if elf.section(b".gopclntab").is_some() || elf.section(b".note.go.buildid").is_some() {
        return Code::Go;
    }
    match FrameSurvey::of(elf) {
        Some(survey) if survey.keeps_frame_pointers() => Code::WithFramePointers,
        _ => Code::WithoutFramePointers,
    }
}

/// A folder with the object's own in the place of `$ORIGIN`.
fn expanded(folder: &[u8], own: &Path) -> PathBuf {
    let forms: [&[u8]; 2] = [b"$ORIGIN", b"${ORIGIN}"];
    let rest = forms.iter().find_map(|form| folder.strip_prefix(*form));
    match rest {
        Some(rest) => {
            let below = rest.strip_prefix(b"/").unwrap_or(rest);
            own.join(OsStr::from_bytes(below))
        }
        None => PathBuf::from(OsStr::from_bytes(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(arguments: &[&str]) -> Program {
        Program {
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
            search_path: Some("/nowhere:/usr/bin:/bin".into()),
        }
    }

    #[test]
    fn names_are_looked_for_and_scripts_lead_to_their_interpreters() {
        let folder = std::env::temp_dir().join(format!("oxperf-program-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [direct, by_env, circle] = ["direct", "by_env", "circle"].map(|name| folder.join(name));
        fs::write(&direct, "#! /bin/sh -e\ntrue\n").unwrap();
        fs::write(&by_env, "#!/usr/bin/env -S A=b sh -e\n").unwrap();
        fs::write(&circle, format!("#!{}\n", circle.display())).unwrap();
        let of = |path: &Path| file_of(&program(&[path.to_str().unwrap(), "x"]));
        assert_eq!(of(&direct), Some("/bin/sh".into()));
        assert_eq!(of(&by_env), file_of(&program(&["sh"])));
        assert_eq!(of(&circle), Some(circle.clone()), "no end of scripts");
        assert_eq!(file_of(&program(&["no-such-program"])), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn java_tells_its_version() {
        let release = "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n";
        assert_eq!(version_in(release), Some(17));
        assert_eq!(version_in("JAVA_VERSION=\"1.8.0_292\"\n"), Some(1));
        assert_eq!(version_in("JAVA_VERSION=\"ea\"\n"), None);
    }

    #[test]
    fn folders_may_count_from_the_object() {
        let own = Path::new("/opt/tool/bin");
        assert_eq!(expanded(b"$ORIGIN/../lib", own), own.join("../lib"));
        assert_eq!(expanded(b"${ORIGIN}", own), own);
        assert_eq!(expanded(b"/lib", own), Path::new("/lib"));
    }

    /// What cannot be read, and a file that is no object, keep no frame pointers that anybody knows of.
    #[test]
    fn what_is_not_known_keeps_none() {
        let missing = frames(Path::new("/no/such/program"));
        assert_eq!(missing, Frames::NotKept("program".to_owned()));
        let text = frames(Path::new("/proc/self/status"));
        assert_eq!(text, Frames::NotKept("status".to_owned()));
    }
}
