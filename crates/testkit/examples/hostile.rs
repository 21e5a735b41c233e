//! Writes a recording of a hostile shape: `hostile FOLDER SIZE [NAME]`, all of them without a name.

use std::path::Path;

use oxperf_testkit::HostileShape;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (folder, size) = (Path::new(&words[0]), words[1].parse().unwrap_or(1));
    for shape in
        HostileShape::all().filter(|shape| words.get(2).is_none_or(|name| shape.name == name))
    {
        let folder = folder.join(shape.name.replace(' ', "-"));
        std::fs::create_dir_all(&folder)?;
        let made = shape.make(size, &folder.to_string_lossy());
        std::fs::write(folder.join("perf.data"), &made.file)?;
        made.others
            .iter()
            .try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes))?;
    }
    Ok(())
}
