//! Sections: parts of images at their addresses, with a table from each byte to its node.

use std::collections::HashMap;

use super::{End, Node};
use crate::code::ImageId;
use crate::packet::ExecMode;

/// Bytes of a page of the table, and of a section at most, as powers of two.
const PAGE_BITS: u32 = 8;
pub(super) const SECTION_BITS: u32 = 30;

/// No node yet.
const NONE: u32 = u32::MAX;

type Page = [u32; 1 << PAGE_BITS];

/// The identity of a section: the same bytes at the same addresses, read in the same mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) image: ImageId,
    /// Address less offset in the image.
    pub(super) bias: u64,
    /// The gigabyte of the image.
    pub(super) part: u64,
    pub(super) mode: ExecMode,
}

/// All sections.
#[derive(Debug, Default)]
pub(super) struct Sections {
    known: HashMap<Key, u32>,
    /// Of each section: where its pages are, or [`NONE`].
    sections: Vec<Vec<u32>>,
    pages: Vec<Page>,
}

impl Sections {
    /// The number of a section.
    pub(super) fn section(&mut self, key: Key) -> u32 {
        let sections = &mut self.sections;
        *self.known.entry(key).or_insert_with(|| {
            sections.push(Vec::new());
            sections.len() as u32 - 1
        })
    }

    /// The node of the byte at `index`, whose address is `ip`.
    #[inline]
    pub(super) fn node(&mut self, section: u32, index: u32, ip: u64, nodes: &mut Vec<Node>) -> u32 {
        let page = self.sections[section as usize]
            .get((index >> PAGE_BITS) as usize)
            .copied()
            .unwrap_or(NONE);
        if page != NONE {
            let node = self.pages[page as usize][(index & ((1 << PAGE_BITS) - 1)) as usize];
            if node != NONE {
                return node;
            }
        }
        self.add(section, index, ip, nodes)
    }

    #[cold]
    fn add(&mut self, section: u32, index: u32, ip: u64, nodes: &mut Vec<Node>) -> u32 {
        let node = Node::add(nodes, ip, End::Unknown);
        let table = &mut self.sections[section as usize];
        let page = (index >> PAGE_BITS) as usize;
        if table.len() <= page {
            table.resize(page + 1, NONE);
        }
        if table[page] == NONE {
            table[page] = self.pages.len() as u32;
            self.pages.push([NONE; 1 << PAGE_BITS]);
        }
        self.pages[table[page] as usize][(index & ((1 << PAGE_BITS) - 1)) as usize] = node;
        node
    }
}
