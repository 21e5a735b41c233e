//! The names of located addresses, by their numbers: naming makes them, merging reads them.

use std::num::NonZeroU32;

use oxperf_resolve::FrameId as LocatedId;

use super::split::TableSplit;
use oxperf_profile::FrameId;

/// A list of frames, as a number in four bytes.
#[derive(Clone, Copy, Debug)]
struct ListId(NonZeroU32);

impl ListId {
    fn new(index: usize) -> ListId {
        ListId(NonZeroU32::MIN.saturating_add(index as u32))
    }

    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The number of the list where others stand before it.
    fn behind(self, others: usize) -> ListId {
        ListId(self.0.saturating_add(others as u32))
    }
}

/// The profile's frames for located addresses. Naming makes it piece by piece, merging joins the pieces.
#[derive(Debug, Default)]
pub(super) struct NamedFrames {
    frames: Vec<FrameId>,
    /// The list that stands for each address in a call chain; none for the frame alone. Behind the last, no address has
    /// a list.
    entries: Vec<Option<ListId>>,
    lists: Vec<Box<[FrameId]>>,
}

impl NamedFrames {
    /// Adds the next address, which stands for its own frame in call chains.
    pub(super) fn push(&mut self, own: FrameId) {
        self.frames.push(own);
    }

    /// Adds the next address, which stands for these frames in call chains, innermost first. With none it is left out,
    /// and samples that ran there, too.
    pub(super) fn push_list(&mut self, own: FrameId, list: Box<[FrameId]>) {
        self.entries.resize(self.frames.len(), None);
        self.frames.push(own);
        self.entries.push(Some(ListId::new(self.lists.len())));
        self.lists.push(list);
    }

    /// The names of the addresses, in order: its own frame and, where it has one, its list.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (FrameId, Option<Box<[FrameId]>>)> {
        let (mut entries, mut lists) = (self.entries.into_iter(), self.lists.into_iter());
        self.frames.into_iter().map(move |own| {
            let has_list = entries.next().flatten().is_some();
            (own, has_list.then(|| lists.next()).flatten())
        })
    }

    /// Adds the names of later addresses.
    pub(super) fn append(&mut self, later: NamedFrames) {
        if !later.lists.is_empty() {
            let lists = self.lists.len();
            self.entries.resize(self.frames.len(), None);
            self.entries.extend(
                later
                    .entries
                    .iter()
                    .map(|list| list.map(|list| list.behind(lists))),
            );
            self.lists.extend(later.lists);
        }
        self.frames.extend(later.frames);
    }

    /// The frame of an address.
    #[inline]
    pub(super) fn frame(&self, id: LocatedId) -> FrameId {
        self.frames[id.0 as usize]
    }

    /// The frames that an address stands for in a call chain, innermost first.
    #[inline]
    fn entry(&self, id: LocatedId) -> &[FrameId] {
        let index = id.0 as usize;
        match self.entries.get(index).copied().flatten() {
            Some(list) => &self.lists[list.index()],
            None => std::slice::from_ref(&self.frames[index]),
        }
    }
}

/// The names of the addresses of all tables.
#[derive(Debug, Default)]
pub(super) struct NamedTables {
    split: TableSplit,
    tables: Vec<NamedFrames>,
    /// True if any address has a list.
    has_lists: bool,
}

impl NamedTables {
    pub(super) fn new(split: TableSplit) -> NamedTables {
        NamedTables {
            split,
            ..NamedTables::default()
        }
    }

    /// The distribution of addresses over tables.
    pub(super) fn split(&self) -> TableSplit {
        self.split
    }

    /// Adds the names of later addresses of each table.
    pub(super) fn append(&mut self, later: Vec<NamedFrames>) {
        self.tables
            .resize_with(later.len().max(self.tables.len()), NamedFrames::default);
        self.tables
            .iter_mut()
            .zip(later)
            .for_each(|(known, later)| known.append(later));
        self.has_lists = self.tables.iter().any(|table| !table.lists.is_empty());
    }

    /// The only table, where there are no others.
    pub(super) fn only_table(&self) -> Option<&NamedFrames> {
        match &self.tables[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The frame of an address.
    #[inline]
    pub(super) fn frame(&self, id: LocatedId) -> FrameId {
        let (table, id) = self.split.part(id);
        self.tables[table].frame(id)
    }

    /// The frame of an address; `None` if the address is left out.
    #[inline]
    pub(super) fn shown(&self, id: LocatedId) -> Option<FrameId> {
        self.entry(id).first().map(|_| self.frame(id))
    }

    /// Adds the frames of a chain that is given from its innermost address on, outermost first.
    pub(super) fn lay_out(&self, chain: &[LocatedId], frames: &mut Vec<FrameId>) {
        let chain = chain.iter().rev();
        match self.has_lists {
            false => frames.extend(chain.map(|&id| self.frame(id))),
            true => frames.extend(chain.flat_map(|&id| self.entry(id).iter().rev())),
        }
    }

    /// The frames that an address stands for in a call chain, innermost first.
    #[inline]
    pub(super) fn entry(&self, id: LocatedId) -> &[FrameId] {
        let (table, id) = self.split.part(id);
        self.tables[table].entry(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_lists() {
        let mut all = NamedFrames::default();
        for list in [
            None,
            Some([5, 6].map(FrameId).to_vec()),
            None,
            Some(Vec::new()),
        ] {
            let mut piece = NamedFrames::default();
            piece.push(FrameId(9));
            match list {
                Some(list) => piece.push_list(FrameId(8), list.into()),
                None => piece.push(FrameId(7)),
            }
            all.append(piece);
        }
        let entries: Vec<Vec<u32>> = (0..8)
            .map(|id| {
                all.entry(LocatedId(id))
                    .iter()
                    .map(|frame| frame.0)
                    .collect()
            })
            .collect();
        let expected: [&[u32]; 8] = [&[9], &[7], &[9], &[5, 6], &[9], &[7], &[9], &[]];
        assert_eq!(entries, expected);
        let mut tables = NamedTables::default();
        tables.append(vec![all]);
        assert_eq!(tables.shown(LocatedId(3)), Some(FrameId(8)));
        assert_eq!(tables.shown(LocatedId(7)), None);
    }
}
