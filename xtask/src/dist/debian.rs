//! The package for Debian: its description, and the scripts that offer oxperf as `perf`.
//!
//! The link of the alternative is `/usr/local/bin/perf`: `/usr/bin/perf` belongs to the package `linux-perf`, which stays as
//! it is. Pages and completions of `perf` come and go with the link.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Release, run_program, text_of};

/// Completions of `perf`: where each shell looks for them, and what the link leads to.
const COMPLETIONS: [(&str, &str); 3] = [
    (
        "/usr/local/share/bash-completion/completions/perf",
        "/usr/share/oxperf/completions/perf.bash",
    ),
    (
        "/usr/local/share/zsh/site-functions/_perf",
        "/usr/share/oxperf/completions/_perf",
    ),
    (
        "/usr/local/share/fish/vendor_completions.d/perf.fish",
        "/usr/share/oxperf/completions/perf.fish",
    ),
];

/// Makes the package of the files below `root`; returns its path.
pub(super) fn build(root: &Path, folder: &Path, release: &Release) -> Result<PathBuf> {
    let whole = folder.join("debian");
    if whole.exists() {
        fs::remove_dir_all(&whole)?;
    }
    let place = |path: &Path| path.display().to_string();
    run_program("cp", &["-r", &place(root), &place(&whole)], folder)?;
    describe(&whole, &pages(root)?, release)?;
    // Whatever the umask was, and with one time for all.
    run_program("chmod", &["-R", "u=rwX,go=rX", "."], &whole)?;
    let package = folder.join(format!("oxperf_{}_amd64.deb", release.version));
    let epoch = format!("SOURCE_DATE_EPOCH={}", release.epoch);
    let build = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build"];
    let paths = [place(&whole), place(&package)];
    let arguments = [
        &[epoch.as_str()],
        &build[..],
        &paths.each_ref().map(String::as_str),
    ]
    .concat();
    run_program("env", &arguments, folder).context("dpkg-deb, of the package dpkg")?;
    Ok(package)
}

/// Writes `DEBIAN/`.
fn describe(whole: &Path, pages: &[String], release: &Release) -> Result<()> {
    let folder = whole.join("DEBIAN");
    let sums = text_of(
        "sh",
        &[
            "-c",
            "find usr -type f | LC_ALL=C sort | xargs -d '\\n' md5sum",
        ],
        whole,
    )?;
    let used = text_of("du", &["-sk", "--apparent-size", "usr"], whole)?;
    let kilobytes = used.split_whitespace().next().unwrap_or("0");
    fs::create_dir(&folder)?;
    fs::write(folder.join("md5sums"), sums)?;
    fs::write(folder.join("control"), control(&release.version, kilobytes))?;
    for (name, text) in [("postinst", postinst(pages)), ("prerm", PRERM.to_owned())] {
        fs::write(folder.join(name), text)?;
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Names of the manual pages, in order.
fn pages(root: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(root.join("usr/share/man/man1"))?;
    let names: std::io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
    let mut names: Vec<String> = names?
        .into_iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

fn control(version: &str, kilobytes: &str) -> String {
    format!(
        "Package: oxperf\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: The oxperf project <oxperf@oxperf.invalid>\n\
         Installed-Size: {kilobytes}\n\
         Suggests: bash-completion, man-db\n\
         Section: devel\n\
         Priority: optional\n\
         Homepage: {}\n\
         Description: Linux perf as one fast, safe, self-contained program\n \
         Records where programs and machines spend their time, and shows it: the\n \
         commands, options, files and texts of Linux perf, written anew in Rust.\n \
         .\n \
         The package offers itself as perf by the system of alternatives.\n",
        env!("CARGO_PKG_REPOSITORY")
    )
}

/// The script after unpacking: the link, with the pages and completions under `perf`'s names. Where the system's perf is
/// installed, it is the other alternative.
fn postinst(pages: &[String]) -> String {
    let page = |page: &String| {
        let name = page.replacen("oxperf", "perf", 1);
        let link = format!("/usr/local/share/man/man1/{name}");
        (link, name, format!("/usr/share/man/man1/{page}"))
    };
    let completion = |(link, target): (&str, &str)| {
        let shell = target.rsplit('/').next().unwrap_or(target);
        (
            link.to_owned(),
            format!("perf-completion-{shell}"),
            target.to_owned(),
        )
    };
    let slaves: Vec<(String, String, String)> = pages
        .iter()
        .map(page)
        .chain(COMPLETIONS.map(completion))
        .collect();
    let mut folders: Vec<&str> = slaves
        .iter()
        .filter_map(|(link, ..)| Some(link.rsplit_once('/')?.0))
        .collect();
    folders.dedup();
    let lines = slaves
        .iter()
        .map(|(link, name, target)| format!(" \\\n        --slave {link} {name} {target}"));
    format!(
        "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then\n    mkdir -p /usr/local/bin {}\n    update-alternatives --install /usr/local/bin/perf perf /usr/bin/oxperf 50{}\n    if [ -x /usr/bin/perf ]; then\n        update-alternatives --install /usr/local/bin/perf perf /usr/bin/perf 10\n    fi\nfi\n",
        folders.join(" "),
        lines.collect::<String>()
    )
}

/// The script before removal.
const PRERM: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = remove ] || [ \"$1\" = deconfigure ]; then
    update-alternatives --remove perf /usr/bin/oxperf
    update-alternatives --remove perf /usr/bin/perf
fi
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::in_path;
    use crate::workspace;

    #[test]
    fn the_link_leaves_the_files_of_other_packages_alone() {
        let script = postinst(&["oxperf-report.1.gz".to_owned(), "oxperf.1.gz".to_owned()]);
        assert!(script.contains("--install /usr/local/bin/perf perf /usr/bin/oxperf 50"));
        assert!(script.contains("--slave /usr/local/share/man/man1/perf-report.1.gz perf-report.1.gz /usr/share/man/man1/oxperf-report.1.gz"));
        assert!(script.contains("mkdir -p /usr/local/bin /usr/local/share/man/man1 /usr/local/share/bash-completion/completions "));
        assert!(!script.contains("--install /usr/bin/") && !script.contains("--slave /usr/share"));
    }

    #[test]
    fn a_package_has_its_parts_and_is_the_same_twice() {
        if in_path("dpkg-deb").is_none() {
            println!("SKIPPED: dpkg-deb is not installed");
            return;
        }
        let folder = workspace::scratch("tmp/package-test").unwrap();
        let root = folder.join("files");
        let file = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("usr/bin/oxperf", "#!/bin/sh\n");
        file("usr/share/man/man1/oxperf.1.gz", "");
        let release = Release {
            version: "0.1.0".to_owned(),
            epoch: 1_700_000_000,
            date: "2023-11-14".to_owned(),
        };
        let package = build(&root, &folder, &release).unwrap();
        let first = fs::read(&package).unwrap();
        build(&root, &folder, &release).unwrap();
        assert!(first == fs::read(&package).unwrap(), "two builds differ");
        let shown = |option: &str| {
            text_of(
                "dpkg-deb",
                &[option, &package.display().to_string()],
                &folder,
            )
            .unwrap()
        };
        let about = shown("--info");
        for part in [
            "Package: oxperf",
            "Version: 0.1.0",
            "Architecture: amd64",
            "postinst",
            "prerm",
            "md5sums",
        ] {
            assert!(about.contains(part), "{part} in {about}");
        }
        let files = shown("--contents");
        assert!(
            files.contains("root/root") && files.contains("./usr/bin/oxperf"),
            "{files}"
        );
        assert!(!files.contains("usr/bin/perf"), "{files}");
    }
}
