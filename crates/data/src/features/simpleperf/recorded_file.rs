//! A binary with the symbols that samples hit, in either of the two codings.

/// A binary as the recorder saw it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedFile {
    /// Its path, or a name like `[kernel.kallsyms]`.
    pub path: String,
    /// Its kind.
    pub kind: FileKind,
    /// The lowest virtual address of its executable segment.
    pub min_vaddr: u64,
    /// The symbols that samples hit, at virtual addresses of the file.
    pub symbols: Vec<RecordedSymbol>,
    /// The fields that only files of its kind have.
    pub detail: FileDetail,
}

/// A symbol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedSymbol {
    /// Its first address.
    pub start: u64,
    /// Its size in bytes.
    pub size: u32,
    /// Its name, as the linker or the language's runtime knows it.
    pub name: String,
}

/// The kind of a binary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct FileKind(pub u32);

impl FileKind {
    /// The kernel.
    pub const KERNEL: FileKind = FileKind(0);
    /// A kernel module.
    pub const KERNEL_MODULE: FileKind = FileKind(1);
    /// An ELF file.
    pub const ELF: FileKind = FileKind(2);
    /// A file with bytecode of the Android runtime; its symbols stand at file offsets.
    pub const DEX: FileKind = FileKind(3);
    /// A map file of a just-in-time compiler; its symbols stand at addresses of the process.
    pub const SYMBOL_MAP: FileKind = FileKind(4);
}

/// The fields that only files of one kind have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileDetail {
    /// Nothing, or the recorder had not stated it yet.
    #[default]
    None,
    /// Of a file with bytecode: where its dex files begin, file offsets.
    DexOffsets(Vec<u64>),
    /// Of an ELF file: the file offset of the lowest virtual address.
    FileOffset(u64),
    /// Of a kernel module: how far its lowest virtual address is behind the beginning of its memory.
    MemoryOffset(u64),
}
