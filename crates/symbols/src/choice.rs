//! One symbol of a name, of all that a source has under it: an object's tables, or the kernel's list.
//!
//! Unlike a table of symbols, which keeps one name of each address, this looks at every name, in order of address; the
//! kernel's list is taken as it stands. As in perf 7.2, where filters of addresses name symbols.

use oxperf_objects::Elf;
use oxperf_objects::elf::SymbolBinding;

use crate::builder::end_of;
use crate::demangle::Demangling;
use crate::elf::named_entries;
use crate::entry::{Suffix, SymbolName};
use crate::kallsyms::{self, Line};
use crate::store::Unavailable;
use crate::symbol_prefilter::SymbolPrefilter;

/// Which of the symbols of one name is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolChoice {
    /// The only one.
    Only,
    /// The only global one.
    Global,
    /// The one with this number, from 1.
    Nth(u32),
}

/// The place of a symbol that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenSymbol {
    /// Its first byte: an offset in the object's file, an address of the kernel.
    pub start: u64,
    /// Its bytes; `None` where nothing says where it ends.
    pub size: Option<u64>,
}

/// The reason why no symbol was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotChosen {
    /// There is none.
    NotFound,
    /// There are no names to choose from.
    Unavailable(Unavailable),
    /// There are several.
    Several(Vec<NamedSymbol>),
}

impl From<Unavailable> for NotChosen {
    fn from(why: Unavailable) -> NotChosen {
        NotChosen::Unavailable(why)
    }
}

/// One of several symbols of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSymbol {
    /// Its first byte.
    pub start: u64,
    /// Its kind as a letter: `g`, `l` and `w` for global, local and weak ones of objects; the kernel's list has its own.
    pub kind: char,
    /// Its name, in the kernel's list with the module. Untrusted: it may hold any character.
    pub name: String,
    /// The name of the symbol behind it, where that is another one.
    pub neighbour: Option<String>,
}

/// Chooses among the symbols of an object, whose names stand in `symbols`: the file itself or its separate debug file.
///
/// # Errors
/// There is no such symbol, or there are several.
pub(crate) fn choose_in_object(
    image: &Elf<'_>,
    symbols: &Elf<'_>,
    name: &str,
    choice: SymbolChoice,
    demangling: Demangling,
) -> Result<ChosenSymbol, NotChosen> {
    let mut entries = named_entries(image, symbols);
    if entries.is_empty() {
        return Err(NotChosen::Unavailable(Unavailable::NoSymbols));
    }
    entries.sort_by_key(|entry| entry.start);
    let linkage = name.strip_suffix(Suffix::Plt.text()).unwrap_or(name);
    let words = SymbolPrefilter::of(linkage);
    let shown = |name: SymbolName<'_>| {
        demangling
            .show(name.linkage, name.suffix.text())
            .into_string()
    };
    let listed = (0..entries.len()).map(|place| {
        let entry = &entries[place];
        let next = entries.get(place + 1).map(|next| next.start);
        let (kind, is_global) = match entry.binding {
            SymbolBinding::Global => ('g', true),
            SymbolBinding::Local => ('l', false),
            SymbolBinding::Weak | SymbolBinding::Other(_) => ('w', false),
        };
        Listed {
            start: entry.start,
            size: end_of(entry, next).saturating_sub(entry.start),
            kind,
            is_global,
            is_named: words.may_stand_among(entry.name.linkage) && shown(entry.name) == name,
            name: entry.name,
        }
    });
    let chosen = choose(listed, choice, shown)?;
    // One without a size at the end is known to have none.
    Ok(ChosenSymbol {
        size: chosen.size.or(Some(0)),
        ..chosen
    })
}

/// Chooses among the functions of the kernel and its modules, by the text of the kernel's list.
///
/// # Errors
/// There is no such symbol, or there are several.
pub fn choose_in_kallsyms(
    text: &[u8],
    name: &str,
    choice: SymbolChoice,
) -> Result<ChosenSymbol, NotChosen> {
    let listed = kallsyms::lines(text).map(|line| Listed {
        start: line.address,
        // A symbol ends where the next line's begins, whatever that is.
        size: 0,
        kind: char::from(line.kind),
        is_global: line.kind.is_ascii_uppercase(),
        is_named: line.is_function() && line.is_called(name.as_bytes()),
        name: line,
    });
    choose(listed, choice, |line| line.name_with_module())
}

/// The range of the functions of the kernel's list: to the end of the page behind the one where the last begins, as the list
/// does not say where it ends. `None` without any.
pub fn listed_kernel_text(text: &[u8], page: u64) -> Option<ChosenSymbol> {
    let mut addresses = kallsyms::lines(text)
        .filter(Line::is_function)
        .map(|line| line.address);
    let start = addresses.next()?;
    // Modules may lie before the kernel.
    let last = addresses.filter(|address| *address >= start).max();
    let page_end = last.unwrap_or(start).checked_next_multiple_of(page);
    let end = page_end.and_then(|end| end.checked_add(page));
    let size = end.unwrap_or(u64::MAX) - start;
    Some(ChosenSymbol {
        start,
        size: Some(size),
    })
}

/// A symbol on the way.
struct Listed<N> {
    start: u64,
    /// 0 where it ends where the next one begins.
    size: u64,
    kind: char,
    is_global: bool,
    /// It has the name that is looked for.
    is_named: bool,
    name: N,
}

fn choose<N>(
    symbols: impl Iterator<Item = Listed<N>> + Clone,
    choice: SymbolChoice,
    shown: impl Fn(N) -> String,
) -> Result<ChosenSymbol, NotChosen> {
    let is_wanted = |symbol: &Listed<N>| {
        symbol.is_named && (choice != SymbolChoice::Global || symbol.is_global)
    };
    let before = match choice {
        SymbolChoice::Nth(nth) => nth.saturating_sub(1),
        SymbolChoice::Only | SymbolChoice::Global => 0,
    };
    let mut rest = symbols.clone();
    let chosen = rest.by_ref().filter(is_wanted).nth(before as usize);
    let Listed { start, size, .. } = chosen.ok_or(NotChosen::NotFound)?;
    let mut behind = rest.clone().map(|symbol| symbol.start.wrapping_sub(start));
    let size = match size {
        0 => behind.find(|distance| *distance > 0),
        size => Some(size),
    };
    if !matches!(choice, SymbolChoice::Nth(_)) && rest.any(|symbol| is_wanted(&symbol)) {
        return Err(NotChosen::Several(all_named(symbols, shown)));
    }
    Ok(ChosenSymbol { start, size })
}

fn all_named<N>(
    symbols: impl Iterator<Item = Listed<N>>,
    shown: impl Fn(N) -> String,
) -> Vec<NamedSymbol> {
    let mut named: Vec<NamedSymbol> = Vec::new();
    let mut is_behind = false;
    for symbol in symbols {
        let Listed { start, kind, .. } = symbol;
        if symbol.is_named {
            let name = shown(symbol.name);
            named.push(NamedSymbol {
                start,
                kind,
                name,
                neighbour: None,
            });
        } else if is_behind && let Some(last) = named.last_mut() {
            last.neighbour = Some(shown(symbol.name));
        }
        is_behind = symbol.is_named;
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"0000000000000000 A fixed\n\
        ffffffff81000000 T _stext\n\
        ffffffff81000000 T _text\n\
        ffffffff81000200 t dupl\n\
        ffffffff81000230 d dupl\n\
        ffffffff81000240 T dupl\n\
        ffffffff81000280 W weak\n\
        ffffffff81000290 r constant\n\
        ffffffff810002a0 t tri\n\
        ffffffff810002b0 t tri\n\
        ffffffff810002c0 t tri\n\
        ffffffff80000000 t module_below\t[early]\n\
        ffffffffc0300010 t dupl\t[ext4]\n\
        ffffffffc0300020 t last\t[ext4]\n";

    fn chosen(name: &str, choice: SymbolChoice) -> Result<(u64, Option<u64>), NotChosen> {
        let chosen = choose_in_kallsyms(LIST, name, choice)?;
        Ok((chosen.start, chosen.size))
    }

    #[test]
    fn a_symbol_of_the_kernel_ends_where_the_next_line_begins() {
        use SymbolChoice::{Global, Nth, Only};
        let cases = [
            ("_stext", Only, 0xffff_ffff_8100_0000, 0x200),
            ("weak", Only, 0xffff_ffff_8100_0280, 0x10),
            ("weak", Global, 0xffff_ffff_8100_0280, 0x10),
            ("dupl", Global, 0xffff_ffff_8100_0240, 0x40),
            ("dupl", Nth(1), 0xffff_ffff_8100_0200, 0x30),
            ("dupl", Nth(3), 0xffff_ffff_c030_0010, 0x10),
            ("dupl\t[ext4]", Only, 0xffff_ffff_c030_0010, 0x10),
        ];
        for (name, choice, start, size) in cases {
            assert_eq!(chosen(name, choice), Ok((start, Some(size))), "{name}");
        }
        let last = chosen("last", Only);
        assert_eq!(last, Ok((0xffff_ffff_c030_0020, None)));
    }

    #[test]
    fn what_is_missing_is_not_chosen() {
        use SymbolChoice::{Global, Nth, Only};
        let cases = [
            ("constant", Only),
            ("nosuch", Only),
            ("tri", Global),
            ("tri", Nth(4)),
            ("dupl\t[xfs]", Only),
            ("dup", Only),
        ];
        for (name, choice) in cases {
            assert_eq!(chosen(name, choice), Err(NotChosen::NotFound), "{name}");
        }
    }

    #[test]
    fn several_are_listed_with_their_neighbours() {
        let Err(NotChosen::Several(all)) = chosen("dupl", SymbolChoice::Only) else {
            panic!("one was chosen");
        };
        let listed: Vec<_> = all
            .iter()
            .map(|one| {
                (
                    one.start as u32,
                    one.kind,
                    &*one.name,
                    one.neighbour.as_deref(),
                )
            })
            .collect();
        let expected = [
            (0x8100_0200, 't', "dupl", Some("dupl")),
            (0x8100_0240, 'T', "dupl", Some("weak")),
            (0xc030_0010, 't', "dupl\t[ext4]", Some("last\t[ext4]")),
        ];
        assert_eq!(listed, expected);
        let Err(NotChosen::Several(all)) = chosen("tri", SymbolChoice::Only) else {
            panic!("one was chosen");
        };
        let neighbours: Vec<_> = all.iter().map(|one| one.neighbour.as_deref()).collect();
        assert_eq!(neighbours, [None, None, Some("module_below\t[early]")]);
    }

    #[test]
    fn the_kernels_text_reaches_to_the_page_behind_its_last_function() {
        let text = listed_kernel_text(LIST, 4096).unwrap();
        assert_eq!(text.start, 0xffff_ffff_8100_0000);
        assert_eq!(text.size, Some(0x3f30_2000));
        let alone = listed_kernel_text(b"ffffffff81000fff t a\nffffffff81001001 D b\n", 4096);
        assert_eq!(alone.unwrap().size, Some(0x1001));
        assert_eq!(listed_kernel_text(b"ffffffff81001001 D b\n", 4096), None);
        let highest = listed_kernel_text(b"fffffffffffff000 t a\n", 4096).unwrap();
        assert_eq!(highest.size, Some(0xfff));
    }

    #[test]
    fn symbols_of_objects_are_chosen_among_all_names_of_an_address() {
        let of = |start, size, name: &'static [u8], binding| Listed {
            start,
            size,
            kind: '-',
            is_global: binding == SymbolBinding::Global,
            is_named: name == b"f",
            name,
        };
        let listed = [
            of(0x10, 4, b"e", SymbolBinding::Global),
            of(0x10, 0, b"f", SymbolBinding::Local),
            of(0x10, 0, b"g", SymbolBinding::Local),
            of(0x30, 8, b"f", SymbolBinding::Global),
        ];
        let choose = |choice| {
            choose(listed.iter().map(|one| Listed { ..*one }), choice, |name| {
                String::from_utf8_lossy(name).into_owned()
            })
        };
        let found = |start, size| {
            Ok(ChosenSymbol {
                start,
                size: Some(size),
            })
        };
        assert_eq!(choose(SymbolChoice::Nth(1)), found(0x10, 0x20));
        assert_eq!(choose(SymbolChoice::Global), found(0x30, 8));
        assert!(
            matches!(choose(SymbolChoice::Only), Err(NotChosen::Several(all)) if all.len() == 2)
        );
    }
}
