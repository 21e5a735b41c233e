//! Writes flame graphs and reports of made-up recordings, from none to a million samples: `flame_pages DIRECTORY`.
//!
//! `xtask/browser/check.sh` opens them in a browser. The recordings are the same in every run.

mod report;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use oxperf_analysis::flame::{FlameDso, FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight};
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;

const OBJECTS: [(&str, &str); 9] = [
    ("rustc", "/root/.rustup/toolchains/stable-x86_64/bin/rustc"),
    (
        "librustc_driver-4f8d2c1e.so",
        "/root/.rustup/toolchains/stable-x86_64/lib/librustc_driver-4f8d2c1e.so",
    ),
    (
        "libLLVM-21-rust-1.95.0-stable.so",
        "/root/.rustup/toolchains/stable-x86_64/lib/libLLVM-21-rust-1.95.0-stable.so",
    ),
    ("libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
    ("[kernel.kallsyms]", "[kernel.kallsyms]"),
    ("[ext4]", "[ext4]"),
    (
        "ld-linux-x86-64.so.2",
        "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    ),
    (
        "libstdc++.so.6.0.30",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
    ),
    ("[vdso]", "[vdso]"),
];
const WORDS: [&str; 16] = [
    "parse",
    "infer",
    "resolve",
    "lower",
    "type_check",
    "borrow",
    "codegen",
    "alloc",
    "hash",
    "intern",
    "walk",
    "visit",
    "emit",
    "link",
    "read",
    "write",
];
const HOSTILE: [&str; 6] = [
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" & 'quoted' <b>bold</b>",
    "\u{202e}txet desrever\u{202c} and \u{1b}[31mcolour\u{7}",
    "שלום עולם::מיון מהיר(مرحبا)",
    "関数::処理<日本語>()",
    "{{title}} <!--@script--> ${alert(1)} $& \\u003c \\",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn main() -> io::Result<()> {
    let directory = std::env::args_os()
        .nth(1)
        .ok_or_else(|| io::Error::other("usage: flame_pages DIRECTORY"))?;
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    write(
        directory,
        "empty",
        &FlameTree::default(),
        &["The ring buffer overflowed: 12 events lost."],
    )?;
    write(directory, "one", &grow(1, 1, 6), &[])?;
    write(directory, "hundred", &grow(100, 60, 24), &[])?;
    let lost = [
        "1,234 events lost in 5 places (0.12% of all).",
        "cycles: 17 samples throttled by the kernel.",
    ];
    write(directory, "thousands", &grow(20_000, 5_000, 48), &lost)?;
    write(directory, "million", &grow(1_000_000, 500_000, 120), &[])?;
    write(directory, "flat", &flat(300_000), &[])?;
    write(directory, "deep", &deep(5_000), &[])?;
    write(directory, "hostile", &hostile(), &HOSTILE)?;
    report::write(directory, "report-empty", &[])?;
    report::write(directory, "report-small", &[grow(2_000, 400, 24)])?;
    report::write(
        directory,
        "report-events",
        &[
            FlameTree::default(),
            grow(900, 100, 12),
            grow(20_000, 5_000, 48),
        ],
    )?;
    report::write(
        directory,
        "report-million",
        &[grow(1_000_000, 500_000, 120)],
    )?;
    report::write(directory, "report-hostile", &[hostile()])
}

fn write(directory: &Path, name: &str, tree: &FlameTree, lost: &[&str]) -> io::Result<()> {
    let lost: Vec<String> = lost.iter().map(|&note| note.to_owned()).collect();
    let title = if name == "hostile" {
        HOSTILE[0]
    } else {
        "cargo build --release --workspace"
    };
    let samples = tree.total().samples;
    let subtitle =
        format!("cpu-clock, {samples} samples, 12.4 s on 2 CPUs of build-7 (x86-64, Linux 7.2.13)");
    let page = FlamePage {
        title,
        subtitle: &subtitle,
        unit: WeightUnit::Nanoseconds,
        lost: &lost,
        tree,
    };
    let mut out = BufWriter::new(File::create(directory.join(format!("{name}.html")))?);
    page.write(&mut out)?;
    out.flush()
}

/// The objects, and some functions of each.
fn scenery() -> FlameTree {
    let mut tree = FlameTree::default();
    for (name, path) in OBJECTS {
        let kernel = name == "[kernel.kallsyms]" || name == "[ext4]";
        tree.dsos.push(FlameDso {
            name: name.into(),
            path: path.into(),
            kernel,
        });
    }
    for thread in ["rustc", "cargo", "opt cgu.0", "ld"] {
        function(&mut tree, thread.into(), None, FlameKind::Thread);
    }
    let mut dice = Dice(7);
    for number in 0..4000 {
        let dso = dice.below(OBJECTS.len() as u64) as u32;
        let word = |at: u64| WORDS[(at % 16) as usize];
        let (a, b) = (word(dice.below(16)), word(dice.below(16)));
        let name = match number % 5 {
            0 => format!("<rustc_middle::{a}::Ctxt as core::iter::traits::Iterator>::{b}_{number}"),
            1 => format!("{a}_{b}_{number}"),
            2 => format!(
                "llvm::{a}::{b}<llvm::SmallVector<unsigned int, 4u>>::run{number}(llvm::Module&)"
            ),
            _ => format!("{a}::{b}{number}"),
        };
        function(&mut tree, name, Some(dso), FlameKind::Function);
    }
    for dso in 0..OBJECTS.len() as u32 {
        function(
            &mut tree,
            "[unknown]".into(),
            Some(dso),
            FlameKind::Unresolved,
        );
    }
    tree
}

fn function(tree: &mut FlameTree, name: String, dso: Option<u32>, kind: FlameKind) {
    let at = tree
        .names
        .iter()
        .position(|known| *known == name)
        .unwrap_or_else(|| {
            tree.names.push(name);
            tree.names.len() - 1
        });
    tree.frames.push(FlameFrame {
        name: at as u32,
        dso,
        kind,
    });
}

fn node(parent: Option<u32>, frame: u32) -> FlameNode {
    FlameNode {
        parent,
        frame,
        own: FlameWeight::default(),
        total: FlameWeight::default(),
    }
}

/// A tree of about `nodes` nodes: mostly long stems of few functions, samples crowded on some of them.
fn grow(samples: u64, nodes: u32, depth: u32) -> FlameTree {
    let mut tree = scenery();
    let mut dice = Dice(samples);
    let mut depths = Vec::new();
    for thread in 0..4.min(nodes) {
        tree.nodes.push(node(None, thread));
        depths.push(0);
    }
    while (tree.nodes.len() as u32) < nodes.max(depth) {
        let mut at = root_or_any(&mut dice, depths.len() as u64, nodes);
        for _ in 0..1 + dice.below(12) {
            if depths[at as usize] + 1 >= depth {
                break;
            }
            let frame = 4 + (dice.below(63) * dice.below(63)) as u32;
            tree.nodes.push(node(Some(at), frame));
            depths.push(depths[at as usize] + 1);
            at = tree.nodes.len() as u32 - 1;
        }
    }
    scatter(&mut tree, samples, &mut dice);
    tree.sum_totals();
    tree
}

fn root_or_any(dice: &mut Dice, count: u64, nodes: u32) -> u32 {
    let early = (u64::from(nodes) / 50).clamp(1, count);
    let limit = if dice.below(3) == 0 { early } else { count };
    if count < 8 {
        (count - 1) as u32
    } else {
        dice.below(limit) as u32
    }
}

/// Gives samples to nodes, most to a few of them.
fn scatter(tree: &mut FlameTree, samples: u64, dice: &mut Dice) {
    let count = tree.nodes.len() as u64;
    for sample in 0..samples {
        let at = if samples == 1 || sample % 2 == 0 {
            count - 1 - dice.below(count.div_ceil(20))
        } else {
            dice.below(count)
        };
        let at = if samples == 1 { count - 1 } else { at };
        if let Some(node) = tree.nodes.get_mut(at as usize) {
            node.own.add(FlameWeight {
                value: 250_000 + sample % 3,
                samples: 1,
            });
        }
    }
}

/// One caller of very many functions, each called once: nothing but boxes too narrow to see.
fn flat(nodes: u32) -> FlameTree {
    let mut tree = scenery();
    tree.nodes.push(node(None, 0));
    for number in 0..nodes {
        let own = FlameWeight {
            value: 1,
            samples: 1,
        };
        tree.nodes.push(FlameNode {
            own,
            ..node(Some(0), 4 + number % 4000)
        });
    }
    tree.sum_totals();
    tree
}

/// One function that calls itself, one sample at each depth.
fn deep(levels: u32) -> FlameTree {
    let mut tree = scenery();
    tree.nodes.push(node(None, 0));
    for caller in 0..levels {
        let own = FlameWeight {
            value: 1000,
            samples: 1,
        };
        tree.nodes.push(FlameNode {
            own,
            ..node(Some(caller), 5)
        });
    }
    tree.sum_totals();
    tree
}

/// Names that try to leave their place.
fn hostile() -> FlameTree {
    let mut tree = FlameTree::default();
    tree.dsos.push(FlameDso {
        name: HOSTILE[0].into(),
        path: HOSTILE[1].into(),
        kernel: false,
    });
    tree.dsos.push(FlameDso {
        name: "[kernel.kallsyms]".into(),
        path: "[kernel.kallsyms]".into(),
        kernel: true,
    });
    function(&mut tree, HOSTILE[2].into(), None, FlameKind::Thread);
    tree.nodes.push(node(None, 0));
    for (number, name) in (0..).zip(HOSTILE) {
        function(
            &mut tree,
            name.into(),
            Some(number % 2),
            FlameKind::Function,
        );
        let own = FlameWeight {
            value: 900_000 - 100_000 * u64::from(number),
            samples: 2,
        };
        tree.nodes.push(FlameNode {
            own,
            ..node(Some(0), number + 1)
        });
    }
    tree.sum_totals();
    tree
}
