//! Functions around addresses, numbered.

use oxperf_analysis::calls::{Around, FunctionId, Functions};
use oxperf_machine::{DsoId, Machine, ThreadId};
use oxperf_resolve::{DsoAddress, DsoAddressTable, Names, SymbolSource};
use rustc_hash::FxHashMap;

/// What stands for an object where nothing is mapped.
const UNKNOWN: &str = "[unknown]";

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFunction {
    /// Its name, or its object and address.
    pub name: String,
    /// Its object, as `script` shows it.
    pub object: String,
    /// Its object, as `report` shows it.
    pub short_object: String,
    /// A symbol gives the name.
    pub is_named: bool,
}

/// All functions that were met.
pub struct FunctionTable<'s> {
    names: Names<'s>,
    places: DsoAddressTable,
    /// What is around each place, with its distance from the beginning and the end.
    known: Vec<Option<Known>>,
    ids: FxHashMap<(Option<DsoId>, u64), FunctionId>,
    functions: Vec<NamedFunction>,
}

/// What is around a place: nothing, or a function that begins and ends so far from it.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    Function {
        id: FunctionId,
        before: u64,
        behind: u64,
    },
}

impl<'s> FunctionTable<'s> {
    /// No functions yet; their names come from `source`.
    pub fn new(source: &'s dyn SymbolSource) -> FunctionTable<'s> {
        FunctionTable {
            names: Names::new(source),
            places: DsoAddressTable::default(),
            known: Vec::new(),
            ids: FxHashMap::default(),
            functions: Vec::new(),
        }
    }

    /// The functions of a thread, as the machine is now.
    pub fn of<'t>(&'t mut self, machine: &'t Machine, thread: ThreadId) -> OfThread<'t, 's> {
        OfThread {
            table: self,
            machine,
            thread,
        }
    }

    /// A function by its number.
    pub fn function(&self, id: FunctionId) -> &NamedFunction {
        &self.functions[id.0 as usize]
    }

    fn look_up(&mut self, machine: &Machine, place: DsoAddress) -> Known {
        let Some(name) = self.names.name(machine.objects(), &place) else {
            return Known::Nothing;
        };
        let before = place.address.wrapping_sub(name.start);
        let behind = name.end.wrapping_sub(place.address);
        let key = (Some(place.dso), name.start);
        let dso = machine.dso(place.dso);
        let id = number(&mut self.ids, &mut self.functions, key, || NamedFunction {
            name: name.text.to_owned(),
            object: dso.shown.clone(),
            short_object: dso.short_name.clone(),
            is_named: true,
        });
        Known::Function { id, before, behind }
    }
}

fn number(
    ids: &mut FxHashMap<(Option<DsoId>, u64), FunctionId>,
    functions: &mut Vec<NamedFunction>,
    key: (Option<DsoId>, u64),
    function: impl FnOnce() -> NamedFunction,
) -> FunctionId {
    *ids.entry(key).or_insert_with(|| {
        functions.push(function());
        FunctionId(functions.len() as u32 - 1)
    })
}

/// The functions of a thread at a moment.
pub struct OfThread<'t, 's> {
    table: &'t mut FunctionTable<'s>,
    machine: &'t Machine,
    thread: ThreadId,
}

impl OfThread<'_, '_> {
    fn place(&mut self, address: u64) -> Option<(usize, DsoAddress)> {
        let mode = self.machine.guess_mode(self.thread, address);
        let (id, place) = self
            .table
            .places
            .locate(self.machine, self.thread, mode, address)?;
        Some((id.0 as usize, place))
    }
}

impl Functions for OfThread<'_, '_> {
    fn around(&mut self, address: u64) -> Option<Around> {
        let (index, place) = self.place(address)?;
        if self.table.known.len() <= index {
            self.table.known.resize(index + 1, None);
        }
        let known = match self.table.known[index] {
            Some(known) => known,
            None => self.table.look_up(self.machine, place),
        };
        self.table.known[index] = Some(known);
        let Known::Function { id, before, behind } = known else {
            return None;
        };
        let (start, end) = (address.wrapping_sub(before), address.wrapping_add(behind));
        Some(Around {
            function: id,
            start,
            end,
        })
    }

    fn nameless(&mut self, address: u64) -> FunctionId {
        let place = self.place(address).map(|(_, place)| place);
        let key = (
            place.map(|place| place.dso),
            place.map_or(address, |place| place.address),
        );
        let machine = self.machine;
        number(
            &mut self.table.ids,
            &mut self.table.functions,
            key,
            || match place {
                Some(place) => {
                    let dso = machine.dso(place.dso);
                    NamedFunction {
                        name: format!("{}+{:#x}", dso.short_name, place.address),
                        object: dso.shown.clone(),
                        short_object: dso.short_name.clone(),
                        is_named: false,
                    }
                }
                None => NamedFunction {
                    name: format!("{address:#x}"),
                    object: UNKNOWN.to_owned(),
                    short_object: UNKNOWN.to_owned(),
                    is_named: false,
                },
            },
        )
    }
}
