//! One line a stack: the thread's name and its functions from the outermost on, with semicolons between, and a weight.

use std::io::{self, Write};

use super::Exported;
use crate::text::sanitize;

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let tree = exported.tree;
    for (node, weight) in (0u32..).zip(tree.nodes.iter().map(|node| node.own)) {
        if weight.samples == 0 {
            continue;
        }
        let mut path: Vec<u32> = tree.outwards(node).collect();
        path.reverse();
        for (place, node) in path.into_iter().enumerate() {
            if place > 0 {
                out.write_all(b";")?;
            }
            let frame = tree.nodes[node as usize].frame;
            out.write_all(plain(&exported.label(frame)).as_bytes())?;
        }
        writeln!(out, " {}", weight.value)?;
    }
    Ok(())
}

/// A name that cannot be taken for two, nor end its line.
fn plain(name: &str) -> String {
    sanitize(name).replace(';', ":")
}
