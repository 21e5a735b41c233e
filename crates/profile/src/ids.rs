//! Ids: places in the profile's tables, one type a table.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A thread name in `Profile::comms`.
    CommId
}
id! {
    /// An object in `Profile::dsos`.
    DsoId
}
id! {
    /// A symbol in `Profile::symbols`.
    SymbolId
}
id! {
    /// A located address in `Profile::frames`.
    FrameId
}
id! {
    /// A node of the context tree in `Profile::chains`.
    NodeId
}
id! {
    /// A combination in `Profile::details`.
    DetailId
}
id! {
    /// A text in `Profile::sources`.
    SourceId
}
id! {
    /// A branch in `Profile::branches`.
    BranchId
}
id! {
    /// A passage in `Profile::branch_steps`.
    BranchStepId
}
id! {
    /// A list in `Profile::branch_histories`.
    BranchHistoryId
}
id! {
    /// A thread in `Profile::threads`.
    ThreadId
}

impl DetailId {
    /// The combination of no details, which every sample has where none are kept.
    pub const EMPTY: DetailId = DetailId(0);
}
