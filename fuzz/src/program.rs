//! The smallest program that holds a section.

/// An ELF file of x86-64 whose only section has this name, of at most 14 bytes, and these bytes; its one segment covers the
/// first MiB.
pub fn program(name: &str, section: &[u8]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    [3_u16, 62]
        .into_iter()
        .for_each(|half| file.extend(half.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    [0_u64, 64, 120]
        .into_iter()
        .for_each(|word| file.extend(word.to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    [64_u16, 56, 1, 64, 3, 2]
        .into_iter()
        .for_each(|half| file.extend(half.to_le_bytes()));
    [1_u32, 5]
        .into_iter()
        .for_each(|word| file.extend(word.to_le_bytes()));
    [0_u64, 0, 0, 1 << 20, 1 << 20, 4096]
        .into_iter()
        .for_each(|word| file.extend(word.to_le_bytes()));
    file.extend([0; 64]);
    let mut header = |name: u32, kind: u32, offset: u64, size: u64| {
        [name, kind]
            .into_iter()
            .for_each(|word| file.extend(word.to_le_bytes()));
        [2, offset, offset, size, 0, 16, 0]
            .into_iter()
            .for_each(|word: u64| file.extend(word.to_le_bytes()));
    };
    // The name at 0 is empty: it is also that of the section before the first.
    header(1, 1, 328, section.len() as u64);
    header(0, 3, 312, 16);
    file.push(0);
    file.extend(name.bytes().chain([0; 15]).take(15));
    file.extend(section);
    file
}
