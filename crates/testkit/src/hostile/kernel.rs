//! Shapes of the kernel and of guests: symbols, modules, images, changed code, programs that were loaded into it.

use super::{Draft, Row};

pub(super) const SHAPES: &[Row] = &[
    ("kernel symbols", 250, symbols),
    ("kernel symbols that go", 250, symbols_that_go),
    ("modules", 250, modules),
    ("modules by path", 250, modules_by_path),
    ("kernel images over modules", 250, images),
    ("kernel images down", 250, images_down),
    ("text pokes", 500, text_pokes),
    ("BPF programs", 500, bpf_programs),
    ("guests", 250, guests),
    ("guest images over modules", 250, guest_images),
];

const TEXT: u64 = 0xffff_ffff_8100_0000;
const MODULES: u64 = 0xffff_ffff_c000_0000;

fn module(draft: &mut Draft, n: u64, name: &str) {
    let start = MODULES + n * 0x1000;
    draft.at_next(format_args!(
        "mmap pid=-1 tid=0 mode=kernel {start:#x}+0x1000@0 {name}"
    ));
}

fn image(draft: &mut Draft, start: u64) {
    draft.at_next(format_args!(
        "mmap pid=-1 tid=0 mode=kernel {start:#x}+0x1000@{start:#x} [kernel.kallsyms]_text"
    ));
}

fn symbol(draft: &mut Draft, n: u64, address: u64, flags: u8) {
    draft.at_next(format_args!(
        "ksymbol addr={address:#x} len=16 flags={flags} bpf_prog_{n}"
    ));
}

fn symbols(draft: &mut Draft, count: usize) {
    image(draft, TEXT);
    for n in 0..count as u64 {
        symbol(draft, n, MODULES + 32 * n, 0);
        draft.kernel_sample(MODULES + 32 * n);
    }
}

fn symbols_that_go(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 {
        let address = MODULES + 32 * (n % 16);
        symbol(draft, n, address, 0);
        draft.kernel_sample(address);
        symbol(draft, n, address, 1);
    }
}

fn modules(draft: &mut Draft, count: usize) {
    image(draft, TEXT);
    for n in 0..count as u64 {
        module(draft, n, &format!("[module{n}]"));
        draft.kernel_sample(MODULES + n * 0x1000);
    }
}

fn modules_by_path(draft: &mut Draft, count: usize) {
    image(draft, TEXT);
    for n in 0..count as u64 {
        module(draft, n, &format!("/lib/modules/6.1.0-none/kernel/m{n}.ko"));
        draft.kernel_sample(MODULES + n * 0x1000);
    }
}

fn images(draft: &mut Draft, count: usize) {
    (0..count as u64 / 2).for_each(|n| module(draft, 2 * n, &format!("[module{n}]")));
    for _ in 0..count {
        image(draft, TEXT);
        draft.kernel_sample(TEXT);
    }
}

fn images_down(draft: &mut Draft, count: usize) {
    for n in (0..count as u64).rev() {
        image(draft, TEXT + n * 0x1000);
        draft.kernel_sample(TEXT + n * 0x1000);
    }
}

fn text_pokes(draft: &mut Draft, count: usize) {
    image(draft, TEXT);
    for n in 0..count as u64 {
        draft.at_next(format_args!(
            "text_poke mode=kernel addr={:#x} old=0f1f440000 new=e812345678",
            TEXT + n * 3
        ));
        draft.kernel_sample(TEXT + n * 3);
    }
}

fn bpf_programs(draft: &mut Draft, count: usize) {
    for n in 0..count as u32 {
        let mut body = [1, n].map(u32::to_le_bytes).concat();
        body.extend([n; 2].map(u32::to_le_bytes).concat());
        draft.raw(18, &body);
        draft.kernel_sample(TEXT);
    }
}

fn guests(draft: &mut Draft, count: usize) {
    for pid in 1..=count {
        let line = format_args!(
            "mmap pid={pid} tid=0 mode=guest_kernel {TEXT:#x}+0x1000@{TEXT:#x} [guest.kernel.kallsyms.{pid}]_text"
        );
        draft.at_next(line);
        draft.time += 10;
        let time = draft.time;
        draft.line(format_args!(
            "sample mode=guest_kernel ip={TEXT:#x} pid={pid} tid={pid} time={time}"
        ));
    }
}

fn guest_images(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 / 2 {
        let start = MODULES + n * 0x2000;
        draft.at_next(format_args!(
            "mmap pid=7 tid=0 mode=guest_kernel {start:#x}+0x1000@0 [module{n}]"
        ));
    }
    for _ in 0..count {
        draft.at_next(format_args!(
            "mmap pid=7 tid=0 mode=guest_kernel {TEXT:#x}+0x1000@{TEXT:#x} [guest.kernel.kallsyms.7]_text"
        ));
        draft.time += 10;
        let time = draft.time;
        draft.line(format_args!(
            "sample mode=guest_kernel ip={TEXT:#x} pid=7 tid=7 time={time}"
        ));
    }
}
