//! The table of the kernel that runs here, as bytes for the next run: the kernel takes longer to write its list than
//! everything else takes together.

use oxperf_objects::KernelState;

use crate::builder::build;
use crate::cache::table::{decode as decode_table, encode as encode_table};
use crate::cache::{open, pull, push, seal};
use crate::demangle::Demangling;
use crate::entry::{SymbolEntry, SymbolName};
use crate::reference_symbol::ReferenceSymbol;
use crate::table::{Stored, SymbolId, SymbolTable};

const KIND: &[u8; 8] = b"oxksm\0\0\x02";

/// A table with what tells how far another kernel lay from it.
#[derive(Debug)]
pub(crate) struct CachedKallsyms {
    pub(crate) table: SymbolTable,
    /// Addresses of the symbols that recordings refer to, in the order of [`REFERENCES`]; the table shows one name of
    /// an address alone.
    pub(crate) references: [Option<u64>; REFERENCES.len()],
}

/// The symbols that recordings refer to.
pub(crate) const REFERENCES: [&[u8]; 2] = [b"_text", b"_stext"];

/// The owner of the bytes.
fn owner(state: &KernelState, demangling: Demangling) -> Vec<u8> {
    [&state.details[..], format!("\n{demangling:?}").as_bytes()].concat()
}

/// The bytes of a table.
pub(crate) fn encode(
    state: &KernelState,
    CachedKallsyms { table, references }: &CachedKallsyms,
) -> Vec<u8> {
    let mut content = Vec::new();
    for place in references {
        push(&mut content, place.is_some().into());
        push(&mut content, place.unwrap_or_default());
    }
    encode_table(table, &mut content);
    seal(KIND, &owner(state, table.demangling), &content)
}

/// The table in such bytes; `None` where they are damaged, or belong to another state.
pub(crate) fn decode(
    state: &KernelState,
    demangling: Demangling,
    bytes: &[u8],
) -> Option<CachedKallsyms> {
    let mut rest = open(KIND, &owner(state, demangling), bytes)?;
    let mut references = [None; REFERENCES.len()];
    for place in &mut references {
        let (is_known, address) = (pull(&mut rest)?, pull(&mut rest)?);
        *place = (is_known != 0).then_some(address);
    }
    Some(CachedKallsyms {
        table: decode_table(rest, Vec::new(), demangling)?,
        references,
    })
}

impl CachedKallsyms {
    /// The table of a kernel that lay where the reference says; `None` where that is no symbol of this list that recordings
    /// refer to.
    pub(crate) fn seen_from(self, reference: Option<&ReferenceSymbol<'_>>) -> Option<SymbolTable> {
        let Some(reference) = reference else {
            return Some(self.table);
        };
        let number = REFERENCES
            .iter()
            .position(|name| *name == reference.symbol)?;
        let shift = reference.address.wrapping_sub(self.references[number]?);
        Some(if shift == 0 {
            self.table
        } else {
            moved(&self.table, shift)
        })
    }
}

/// A table with all symbols elsewhere.
fn moved(table: &SymbolTable, shift: u64) -> SymbolTable {
    let entry = |(symbol, name): (&Stored, _)| SymbolEntry {
        start: symbol.start.wrapping_add(shift),
        size: Some(symbol.end.wrapping_sub(symbol.start)),
        name: SymbolName::plain(name),
        binding: symbol.binding,
        is_data: symbol.is_data,
    };
    build(all_names(table).map(entry).collect(), table.demangling)
}

/// All names of all symbols, those of one symbol in order.
fn all_names(table: &SymbolTable) -> impl Iterator<Item = (&Stored, &[u8])> {
    let mut aliases = table.aliases.iter().peekable();
    (0..)
        .map(SymbolId)
        .zip(&table.symbols)
        .flat_map(move |(id, symbol)| {
            let mut names = vec![symbol.name];
            while let Some((_, name)) = aliases.next_if(|(of, _)| *of == id) {
                names.push(*name);
            }
            names
                .into_iter()
                .map(move |name| (symbol, table.linkage(name)))
        })
}

#[cfg(test)]
mod tests {
    use oxperf_abi::BuildId;

    use super::*;
    use crate::kallsyms::kallsyms_table;

    const TEXT: &[u8] = b"ffffffff81000000 T _stext\n\
        ffffffff81000000 T _text\n\
        ffffffff81000040 t schedule\n\
        ffffffff81000080 W weak\n\
        ffffffff81000100 D data\n\
        ffffffffc0300000 t in_module\t[ext4]\n";

    fn state(details: &[u8]) -> KernelState {
        KernelState {
            boot: BuildId::new(&[1; 16]).unwrap(),
            details: details.to_vec(),
        }
    }

    /// Everything that a reader can see of a table.
    fn seen(table: &SymbolTable) -> Vec<String> {
        let symbols = table.ids().map(|id| format!("{:?}", table.symbol(id)));
        symbols.chain([format!("{:?}", table.spans)]).collect()
    }

    fn kept() -> CachedKallsyms {
        let table = kallsyms_table(TEXT, None, Demangling::Off);
        CachedKallsyms {
            table,
            references: [Some(0xffff_ffff_8100_0000), None],
        }
    }

    #[test]
    fn the_same_table_comes_back() {
        let bytes = encode(&state(b"here"), &kept());
        let back = decode(&state(b"here"), Demangling::Off, &bytes).unwrap();
        assert_eq!(seen(&back.table), seen(&kept().table));
        assert_eq!(back.references, kept().references);
        assert!(decode(&state(b"there"), Demangling::Off, &bytes).is_none());
        assert!(decode(&state(b"here"), Demangling::On, &bytes).is_none());
    }

    #[test]
    fn a_table_moves_as_the_text_does() {
        for address in [0xffff_ffff_9200_0000, 0xffff_ffff_8100_0000, 0x1000] {
            let reference = ReferenceSymbol {
                symbol: b"_text",
                address,
            };
            let expected = kallsyms_table(TEXT, Some(&reference), Demangling::Off);
            let found = kept().seen_from(Some(&reference)).unwrap();
            assert_eq!(seen(&found), seen(&expected), "{address:x}");
        }
        for symbol in [&b"_stext"[..], b"schedule"] {
            assert!(
                kept()
                    .seen_from(Some(&ReferenceSymbol { symbol, address: 0 }))
                    .is_none()
            );
        }
    }

    #[test]
    fn a_seal_alone_opens_nothing() {
        let state = state(b"here");
        let owner = owner(&state, Demangling::Off);
        let sealed = encode(&state, &kept());
        let content = open(KIND, &owner, &sealed).unwrap();
        for at in 0..content.len() {
            // Names may be anything; but whatever is taken stays a table that answers.
            for changed in [0, 0xff] {
                let mut damaged = content.to_vec();
                damaged[at] = changed;
                if let Some(kept) = decode(&state, Demangling::Off, &seal(KIND, &owner, &damaged)) {
                    seen(&kept.table);
                }
            }
            assert!(
                decode(&state, Demangling::Off, &seal(KIND, &owner, &content[..at])).is_none(),
                "{at}"
            );
        }
    }
}
