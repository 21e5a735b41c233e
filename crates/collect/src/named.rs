//! What located addresses are called, by their numbers: where naming and merging meet.

use oxperf_resolve::FrameId as LocatedId;

use super::locate::Split;
use oxperf_profile::FrameId;

/// The profile's frames for located addresses. Naming makes it piece by piece, merging joins the pieces.
#[derive(Debug, Default)]
pub(super) struct Named {
    frames: Vec<FrameId>,
    /// Which of the lists stands for the address in a call chain, from 1; 0 for the frame alone. Behind the last, no
    /// address has a list.
    entries: Vec<u32>,
    lists: Vec<Box<[FrameId]>>,
}

impl Named {
    /// Adds the next address, which stands for its own frame in call chains.
    pub(super) fn push(&mut self, own: FrameId) {
        self.frames.push(own);
    }

    /// Adds the next address, which stands for these frames in call chains, innermost first. With none it is left out,
    /// and samples that ran there, too.
    pub(super) fn push_list(&mut self, own: FrameId, list: Box<[FrameId]>) {
        self.entries.resize(self.frames.len(), 0);
        self.frames.push(own);
        self.lists.push(list);
        self.entries.push(self.lists.len() as u32);
    }

    /// What each address is called, in order: its own frame and, where it has one, its list.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (FrameId, Option<Box<[FrameId]>>)> {
        let (mut entries, mut lists) = (self.entries.into_iter(), self.lists.into_iter());
        self.frames.into_iter().map(move |own| {
            let has_list = entries.next().is_some_and(|list| list > 0);
            (own, has_list.then(|| lists.next()).flatten())
        })
    }

    /// Adds what later addresses are called.
    pub(super) fn append(&mut self, later: Named) {
        if !later.lists.is_empty() {
            let lists = self.lists.len() as u32;
            self.entries.resize(self.frames.len(), 0);
            self.entries.extend(
                later
                    .entries
                    .iter()
                    .map(|&list| if list == 0 { 0 } else { list + lists }),
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
        match self.entries.get(index).and_then(|list| list.checked_sub(1)) {
            Some(list) => &self.lists[list as usize],
            None => std::slice::from_ref(&self.frames[index]),
        }
    }
}

/// What the addresses of all tables are called.
#[derive(Debug, Default)]
pub(super) struct AllNamed {
    split: Split,
    tables: Vec<Named>,
    /// Whether any address has a list.
    has_lists: bool,
}

impl AllNamed {
    pub(super) fn new(split: Split) -> AllNamed {
        AllNamed {
            split,
            ..AllNamed::default()
        }
    }

    /// How addresses are dealt out to tables.
    pub(super) fn split(&self) -> Split {
        self.split
    }

    /// Adds what later addresses of each table are called.
    pub(super) fn append(&mut self, later: Vec<Named>) {
        self.tables
            .resize_with(later.len().max(self.tables.len()), Named::default);
        self.tables
            .iter_mut()
            .zip(later)
            .for_each(|(known, later)| known.append(later));
        self.has_lists = self.tables.iter().any(|table| !table.lists.is_empty());
    }

    /// The only table, where there are no others.
    pub(super) fn alone(&self) -> Option<&Named> {
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

    /// The same; `None` if the address is left out.
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

    #[inline]
    fn entry(&self, id: LocatedId) -> &[FrameId] {
        let (table, id) = self.split.part(id);
        self.tables[table].entry(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_lists() {
        let mut all = Named::default();
        for list in [
            None,
            Some([5, 6].map(FrameId).to_vec()),
            None,
            Some(Vec::new()),
        ] {
            let mut piece = Named::default();
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
        let mut tables = AllNamed::default();
        tables.append(vec![all]);
        assert_eq!(tables.shown(LocatedId(3)), Some(FrameId(8)));
        assert_eq!(tables.shown(LocatedId(7)), None);
    }
}
