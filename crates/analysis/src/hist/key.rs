//! Sort keys: what a row of the table is about.

use oxperf_profile::number_keys as numbers;
use oxperf_profile::{Detail, NumberKey, NumberOrder};

/// One column that tells rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortKey {
    /// The thread: `pid` in perf's words, though it shows and compares the thread id.
    Thread,
    /// The process.
    Process,
    /// The thread's name.
    Comm,
    /// The thread's name with every number in it as one.
    CommNoDigit,
    /// The object's short name.
    Dso,
    /// The symbol, or the address where none is known.
    Symbol,
    /// Nothing, for each symbol: perf's column of instructions per cycle where no branches were recorded.
    NoIpc,
    /// The instructions that each symbol got through in a cycle, as far as branches tell it.
    Ipc,
    /// The address.
    Address,
    /// The symbol and the distance from its beginning.
    SymbolOffset,
    /// The size of the symbol.
    SymbolSize,
    /// The size of the mapping that holds the address.
    DsoSize,
    /// A number of each sample.
    Number(&'static NumberKey),
    /// The text of a tracepoint's record.
    Trace,
    /// A field of a tracepoint's record, by its number in [`Details`](oxperf_profile::Details).
    Field(u16),
    /// The source line.
    SourceLine,
    /// The source file.
    SourceFile,
    /// The time, in steps.
    Time,
    /// What became of a transaction.
    Transaction,
    /// The cgroup's path.
    Cgroup,
    /// The device and inode of the cgroup's namespace.
    CgroupId,
    /// What vector instructions were sampled.
    Simd,
    /// The type of the data that the instruction works on.
    DataType,
    /// The place in that type.
    DataTypeOffset,
    /// The line of the CPU's caches in that type.
    DataTypeLine,
    /// The function that was picked from the call chain.
    Parent,
    /// Something about the branch that a row is about.
    Branch(BranchKey),
    /// Something about the access to memory that a row is about.
    Access(AccessKey),
}

/// What can be told about an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKey {
    /// The data's name and the place in it, or its address.
    DataSymbol,
    /// The object that holds the data.
    DataObject,
    /// True if it was atomic.
    Locked,
    /// How its address was translated.
    Translation,
    /// Where the data were found.
    Level,
    /// What other caches said.
    Snoop,
    /// The line of the CPU's caches.
    Line,
    /// The symbol around the instruction.
    CodeSymbol,
    /// The data's address in the machine's memory.
    PhysicalAddress,
    /// Size of the page that holds the data.
    PageSize,
    /// Why a load waited for a store.
    Blocked,
}

/// What can be told about a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchKey {
    /// The object of the branching instruction.
    DsoFrom,
    /// The object that it led to.
    DsoTo,
    /// The symbol of the branching instruction, or its address where none is known.
    SymbolFrom,
    /// The symbol that it led to.
    SymbolTo,
    /// The address of the branching instruction.
    AddressFrom,
    /// The address that it led to.
    AddressTo,
    /// The source line of the branching instruction.
    LineFrom,
    /// The source line that it led to.
    LineTo,
    /// True if it was predicted wrongly.
    Mispredicted,
    /// True if it was in a transaction.
    InTransaction,
    /// True if it was the abort of a transaction.
    Abort,
    /// The cycles since the branch before.
    Cycles,
}

/// The name of a number key, with the key.
const fn number(key: &'static NumberKey) -> (&'static str, SortKey) {
    (key.name, SortKey::Number(key))
}

impl SortKey {
    /// The CPU.
    pub const CPU: SortKey = SortKey::Number(&numbers::cpu::CPU);
    /// The socket of the CPU.
    pub const SOCKET: SortKey = SortKey::Number(&numbers::socket::SOCKET);
    /// How many threads ran at the moment.
    pub const PARALLELISM: SortKey = SortKey::Number(&numbers::parallelism::PARALLELISM);

    /// The keys of a report that was not told any.
    pub const DEFAULT: [SortKey; 3] = [SortKey::Comm, SortKey::Dso, SortKey::Symbol];

    /// The keys of a report of branches that was not told any.
    pub const DEFAULT_OF_BRANCHES: [SortKey; 5] = [
        SortKey::Comm,
        SortKey::Branch(BranchKey::DsoFrom),
        SortKey::Branch(BranchKey::SymbolFrom),
        SortKey::Branch(BranchKey::SymbolTo),
        SortKey::Branch(BranchKey::Cycles),
    ];

    /// The keys of a report of accesses to memory that was not told any.
    pub const DEFAULT_OF_ACCESSES: [SortKey; 12] = [
        SortKey::Number(&numbers::weight::LOCAL_WEIGHT),
        SortKey::Access(AccessKey::Level),
        SortKey::Symbol,
        SortKey::Dso,
        SortKey::Access(AccessKey::DataSymbol),
        SortKey::Access(AccessKey::DataObject),
        SortKey::Access(AccessKey::Snoop),
        SortKey::Access(AccessKey::Translation),
        SortKey::Access(AccessKey::Locked),
        SortKey::Access(AccessKey::Blocked),
        SortKey::Number(&numbers::ins_lat::LOCAL_INS_LAT),
        SortKey::Number(&numbers::p_stage_cyc::LOCAL_P_STAGE_CYC),
    ];

    /// The names, in the order in which beginnings of them are looked for.
    const NAMES: &'static [(&'static str, SortKey)] = &[
        ("pid", SortKey::Thread),
        ("comm", SortKey::Comm),
        ("comm_nodigit", SortKey::CommNoDigit),
        ("dso", SortKey::Dso),
        ("symbol", SortKey::Symbol),
        ("parent", SortKey::Parent),
        number(&numbers::cpu::CPU),
        number(&numbers::socket::SOCKET),
        ("srcline", SortKey::SourceLine),
        ("srcfile", SortKey::SourceFile),
        number(&numbers::weight::LOCAL_WEIGHT),
        number(&numbers::weight::WEIGHT),
        ("transaction", SortKey::Transaction),
        ("trace", SortKey::Trace),
        ("symbol_size", SortKey::SymbolSize),
        ("dso_size", SortKey::DsoSize),
        ("cgroup", SortKey::Cgroup),
        ("cgroup_id", SortKey::CgroupId),
        ("ipc_null", SortKey::NoIpc),
        ("time", SortKey::Time),
        number(&numbers::code_page_size::CODE_PAGE_SIZE),
        number(&numbers::ins_lat::LOCAL_INS_LAT),
        number(&numbers::ins_lat::INS_LAT),
        number(&numbers::p_stage_cyc::LOCAL_P_STAGE_CYC),
        number(&numbers::p_stage_cyc::P_STAGE_CYC),
        ("addr", SortKey::Address),
        number(&numbers::retire_lat::LOCAL_RETIRE_LAT),
        number(&numbers::retire_lat::RETIRE_LAT),
        ("simd", SortKey::Simd),
        ("type", SortKey::DataType),
        ("typeoff", SortKey::DataTypeOffset),
        ("symoff", SortKey::SymbolOffset),
        ("typecln", SortKey::DataTypeLine),
        number(&numbers::parallelism::PARALLELISM),
        ("tgid", SortKey::Process),
        ("tid", SortKey::Thread),
        ("dso_from", SortKey::Branch(BranchKey::DsoFrom)),
        ("dso_to", SortKey::Branch(BranchKey::DsoTo)),
        ("symbol_from", SortKey::Branch(BranchKey::SymbolFrom)),
        ("symbol_to", SortKey::Branch(BranchKey::SymbolTo)),
        ("mispredict", SortKey::Branch(BranchKey::Mispredicted)),
        ("abort", SortKey::Branch(BranchKey::Abort)),
        ("in_tx", SortKey::Branch(BranchKey::InTransaction)),
        ("cycles", SortKey::Branch(BranchKey::Cycles)),
        ("srcline_from", SortKey::Branch(BranchKey::LineFrom)),
        ("srcline_to", SortKey::Branch(BranchKey::LineTo)),
        ("addr_from", SortKey::Branch(BranchKey::AddressFrom)),
        ("addr_to", SortKey::Branch(BranchKey::AddressTo)),
        ("ipc_lbr", SortKey::Ipc),
        ("symbol_daddr", SortKey::Access(AccessKey::DataSymbol)),
        ("dso_daddr", SortKey::Access(AccessKey::DataObject)),
        ("locked", SortKey::Access(AccessKey::Locked)),
        ("tlb", SortKey::Access(AccessKey::Translation)),
        ("mem", SortKey::Access(AccessKey::Level)),
        ("snoop", SortKey::Access(AccessKey::Snoop)),
        ("dcacheline", SortKey::Access(AccessKey::Line)),
        ("symbol_iaddr", SortKey::Access(AccessKey::CodeSymbol)),
        ("phys_daddr", SortKey::Access(AccessKey::PhysicalAddress)),
        ("data_page_size", SortKey::Access(AccessKey::PageSize)),
        ("blocked", SortKey::Access(AccessKey::Blocked)),
    ];

    /// The key of a name on the command line; a beginning of a name is enough, letters of either case.
    pub fn parse(name: &str) -> Option<SortKey> {
        let wanted = name.to_ascii_lowercase();
        let mut known = Self::NAMES.iter();
        known
            .find(|(full, _)| !wanted.is_empty() && full.starts_with(&wanted))
            .map(|&(_, key)| key)
    }

    /// The key's name on the command line; of fields of tracepoints there is none.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|&&(_, key)| key == self)
            .map_or("field", |&(name, _)| name)
    }

    /// The names on the command line.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|&(name, _)| name)
    }

    /// True if the key depends on the sample itself, or its branch, and not on where the code stands.
    pub(crate) const fn of_task(self) -> bool {
        !matches!(
            self,
            SortKey::Dso
                | SortKey::Symbol
                | SortKey::NoIpc
                | SortKey::Ipc
                | SortKey::Address
                | SortKey::SymbolOffset
                | SortKey::SymbolSize
                | SortKey::DsoSize
                | SortKey::SourceLine
                | SortKey::SourceFile
                | SortKey::DataType
                | SortKey::DataTypeOffset
                | SortKey::DataTypeLine
        )
    }

    /// What samples have to say for the key beside thread and place.
    pub fn detail(self) -> Option<Detail> {
        Some(match self {
            SortKey::Number(key) => Detail::Number(key),
            SortKey::Time => Detail::Time,
            SortKey::Transaction => Detail::Transaction,
            SortKey::Cgroup => Detail::Cgroup,
            SortKey::CgroupId => Detail::CgroupId,
            SortKey::Trace => Detail::Trace,
            SortKey::Field(number) => Detail::Field(number),
            SortKey::Parent => Detail::Parent,
            SortKey::Access(_) => Detail::Access,
            _ => return None,
        })
    }

    /// True if the greatest comes first.
    pub(crate) const fn falls(self) -> bool {
        match self {
            SortKey::Number(key) => matches!(key.order, NumberOrder::Falling),
            _ => matches!(self, SortKey::Transaction | SortKey::Field(_)),
        }
    }

    /// True if the key is about the type of data.
    pub const fn is_of_types(self) -> bool {
        matches!(
            self,
            SortKey::DataType | SortKey::DataTypeOffset | SortKey::DataTypeLine
        )
    }

    /// True if rows of one symbol may differ in the key.
    pub const fn by_address(self) -> bool {
        self.is_of_types() || matches!(self, SortKey::Address | SortKey::SymbolOffset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_of_a_name_is_enough() {
        assert_eq!(SortKey::parse("sym"), Some(SortKey::Symbol));
        assert_eq!(SortKey::parse("TGID"), Some(SortKey::Process));
        assert_eq!(
            SortKey::parse("weight"),
            Some(SortKey::Number(&numbers::weight::WEIGHT))
        );
        assert_eq!(SortKey::parse("symbols"), None);
        assert_eq!(SortKey::parse(""), None);
    }
}
