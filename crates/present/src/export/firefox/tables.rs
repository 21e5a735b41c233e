//! The tables of one thread: its stacks, and what their frames are.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::super::Exported;
use super::{column, separate};
use crate::json::string;

/// The stacks and frames that a thread's samples use, in the order in which they came.
#[derive(Default)]
pub(super) struct Tables {
    /// Each stack: the stack that called it, and its frame.
    stacks: Vec<(Option<u32>, u32)>,
    /// The stack of a node of the tree.
    stack_of: FxHashMap<u32, u32>,
    /// Frames, as indices into the tree's; a frame is a function here.
    frames: Vec<u32>,
    frame_of: FxHashMap<u32, u32>,
    /// Objects, as indices into the tree's.
    resources: Vec<u32>,
    resource_of: FxHashMap<u32, u32>,
}

/// The place of a value in a table, where it is put if it is new.
fn place(value: u32, table: &mut Vec<u32>, places: &mut FxHashMap<u32, u32>) -> u32 {
    *places.entry(value).or_insert_with(|| {
        table.push(value);
        table.len() as u32 - 1
    })
}

impl Tables {
    /// The stack that ends with a node of the tree; `None` for a sample without a frame.
    pub(super) fn stack(&mut self, exported: &Exported<'_>, node: u32) -> Option<u32> {
        let known = exported
            .tree
            .outwards(node)
            .find(|outer| self.stack_of.contains_key(outer));
        let new: Vec<u32> = exported
            .tree
            .outwards(node)
            .take_while(|&outer| Some(outer) != known)
            .collect();
        let mut stack = known.and_then(|known| self.stack_of.get(&known).copied());
        for node in new.into_iter().rev() {
            let frame = exported.tree.nodes[node as usize].frame;
            if exported.is_thread(frame) {
                continue;
            }
            let frame = place(frame, &mut self.frames, &mut self.frame_of);
            self.stacks.push((stack, frame));
            stack = Some(self.stacks.len() as u32 - 1);
            self.stack_of.insert(node, self.stacks.len() as u32 - 1);
        }
        stack
    }

    /// Appends the tables as members of the thread's object.
    pub(super) fn write(&mut self, exported: &Exported<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        self.write_stacks(text)?;
        let objects = self.place_objects(exported);
        self.write_frames(exported, text)?;
        self.write_functions(&objects, text)?;
        self.write_resources(text)?;
        write!(
            text,
            ",\"nativeSymbols\":{{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}}"
        )?;
        self.write_texts(exported, text)
    }

    fn write_stacks(&self, text: &mut Vec<u8>) -> io::Result<()> {
        write!(text, ",\"stackTable\":{{\"length\":{}", self.stacks.len())?;
        column("prefix", &self.stacks, text, |(prefix, _), text| {
            optional(*prefix, "null", text)
        })?;
        column("frame", &self.stacks, text, |(_, frame), text| {
            write!(text, "{frame}")
        })?;
        text.push(b'}');
        Ok(())
    }

    fn write_frames(&self, exported: &Exported<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        write!(text, ",\"frameTable\":{{\"length\":{}", self.frames.len())?;
        constant("address", "-1", self.frames.len(), text)?;
        column("category", &self.frames, text, |&frame, text| {
            write!(text, "{}", category(exported, frame))
        })?;
        let functions: Vec<usize> = (0..self.frames.len()).collect();
        column("func", &functions, text, |function, text| {
            write!(text, "{function}")
        })?;
        for (name, value) in [
            ("inlineDepth", "0"),
            ("subcategory", "0"),
            ("innerWindowID", "0"),
        ] {
            constant(name, value, self.frames.len(), text)?;
        }
        for name in ["nativeSymbol", "line", "column"] {
            constant(name, "null", self.frames.len(), text)?;
        }
        text.push(b'}');
        Ok(())
    }

    /// Functions have the places of their frames; their names are the first texts.
    fn write_functions(&self, objects: &[Option<u32>], text: &mut Vec<u8>) -> io::Result<()> {
        write!(text, ",\"funcTable\":{{\"length\":{}", objects.len())?;
        let names: Vec<usize> = (0..objects.len()).collect();
        column("name", &names, text, |name, text| write!(text, "{name}"))?;
        column("resource", objects, text, |object, text| {
            optional(*object, "-1", text)
        })?;
        for (name, value) in [("isJS", "false"), ("relevantForJS", "false")] {
            constant(name, value, objects.len(), text)?;
        }
        for name in ["fileName", "lineNumber", "columnNumber"] {
            constant(name, "null", objects.len(), text)?;
        }
        text.push(b'}');
        Ok(())
    }

    /// The names of resources are the texts behind those of functions.
    fn write_resources(&self, text: &mut Vec<u8>) -> io::Result<()> {
        write!(
            text,
            ",\"resourceTable\":{{\"length\":{}",
            self.resources.len()
        )?;
        column("lib", &self.resources, text, |lib, text| {
            write!(text, "{lib}")
        })?;
        let names: Vec<usize> =
            (self.frames.len()..self.frames.len() + self.resources.len()).collect();
        column("name", &names, text, |name, text| write!(text, "{name}"))?;
        constant("host", "null", self.resources.len(), text)?;
        constant("type", "1", self.resources.len(), text)?;
        text.push(b'}');
        Ok(())
    }

    fn write_texts(&self, exported: &Exported<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        let functions = self.frames.iter().map(|&frame| exported.label(frame));
        let objects = self
            .resources
            .iter()
            .filter_map(|&dso| exported.tree.dsos.get(dso as usize));
        let texts: Vec<String> = functions
            .chain(objects.map(|dso| dso.name.clone()))
            .collect();
        text.extend_from_slice(b",\"stringArray\":[");
        for (index, item) in texts.iter().enumerate() {
            separate(index, text);
            string::write(item, text);
        }
        text.push(b']');
        Ok(())
    }

    /// The resource of each frame.
    fn place_objects(&mut self, exported: &Exported<'_>) -> Vec<Option<u32>> {
        let dso = |&frame: &u32| {
            exported
                .tree
                .frames
                .get(frame as usize)
                .and_then(|frame| frame.dso)
        };
        let dsos: Vec<Option<u32>> = self.frames.iter().map(dso).collect();
        let mut resource = |dso| place(dso, &mut self.resources, &mut self.resource_of);
        dsos.into_iter().map(|dso| dso.map(&mut resource)).collect()
    }
}

/// The place of a frame's category in the profile's list.
fn category(exported: &Exported<'_>, frame: u32) -> u32 {
    let dso = exported
        .tree
        .frames
        .get(frame as usize)
        .and_then(|frame| exported.tree.dso_of(frame));
    match dso {
        None => 0,
        Some(dso) if dso.kernel => 2,
        Some(_) => 1,
    }
}

fn optional(value: Option<u32>, nothing: &str, text: &mut Vec<u8>) -> io::Result<()> {
    match value {
        Some(value) => write!(text, "{value}"),
        None => text.write_all(nothing.as_bytes()),
    }
}

/// Appends a column whose values are all the same.
fn constant(name: &str, value: &str, length: usize, text: &mut Vec<u8>) -> io::Result<()> {
    column(name, &vec![(); length], text, |(), text| {
        text.write_all(value.as_bytes())
    })
}
