//! Instructions and their text, as objdump and LLVM write it.

use oxperf_disasm::{Disassembler, LineLayout, Syntax, Width};

/// The text of one instruction at 0x1000; addresses from 0x2000 on lie in `data`.
fn text(code: &[u8], width: Width, syntax: Syntax, form: LineLayout) -> Option<String> {
    let mut out = String::new();
    let mut names = |address: u64, out: &mut String| {
        out.push_str(&format!("data+{:#x}", address.wrapping_sub(0x2000)));
        (0x2000..0x3000).contains(&address)
    };
    let length =
        Disassembler::new(width, syntax, form).write(code, 0x1000, &mut names, &mut out)?;
    assert_eq!(length, code.len(), "{out}");
    Some(out)
}

fn listing(code: &[u8], syntax: Syntax) -> String {
    text(code, Width::Bits64, syntax, LineLayout::Listing).expect("an instruction")
}

fn script(code: &[u8], syntax: Syntax) -> String {
    text(code, Width::Bits64, syntax, LineLayout::Script).expect("an instruction")
}

#[test]
fn listings_are_those_of_objdump() {
    for (code, att, intel) in [
        (
            &[0x48, 0x89, 0xe7][..],
            "mov    %rsp,%rdi",
            "mov    rdi,rsp",
        ),
        (&[0xc3], "ret", "ret"),
        (&[0x55], "push   %rbp", "push   rbp"),
        (
            &[0x41, 0xff, 0x54, 0x24, 0x08],
            "call   *0x8(%r12)",
            "call   QWORD PTR [r12+0x8]",
        ),
        (&[0xf3, 0x0f, 0x1e, 0xfa], "endbr64", "endbr64"),
        (
            &[0x0f, 0x1f, 0x44, 0, 0],
            "nopl   0x0(%rax,%rax,1)",
            "nop    DWORD PTR [rax+rax*1+0x0]",
        ),
        (
            &[0x0f, 0xb6, 0x04, 0x07],
            "movzbl (%rdi,%rax,1),%eax",
            "movzx  eax,BYTE PTR [rdi+rax*1]",
        ),
        (
            &[0x89, 0x44, 0x8f, 0xf8],
            "mov    %eax,-0x8(%rdi,%rcx,4)",
            "mov    DWORD PTR [rdi+rcx*4-0x8],eax",
        ),
        (
            &[0xe8, 0xfb, 0x0f, 0, 0],
            "call   2000 <data+0x0>",
            "call   2000 <data+0x0>",
        ),
        (&[0x75, 0x10], "jne    1012", "jne    1012"),
        (&[0xf2, 0x75, 0x10], "bnd jne 1013", "bnd jne 1013"),
        (&[0xf2, 0xff, 0xe0], "bnd jmp *%rax", "bnd jmp rax"),
        (&[0xf2, 0xc3], "bnd ret", "bnd ret"),
        (&[0xf2, 0xe3, 0x10], "repnz jrcxz 1013", "repnz jrcxz 1013"),
    ] {
        assert_eq!(
            (listing(code, Syntax::Att), listing(code, Syntax::Intel)),
            (att.to_owned(), intel.to_owned())
        );
    }
}

#[test]
fn listings_say_where_relative_addresses_are() {
    let code = [0x48, 0x8d, 0x3d, 0x09, 0x10, 0, 0];
    assert_eq!(
        listing(&code, Syntax::Att),
        "lea    0x1009(%rip),%rdi        # 2010 <data+0x10>"
    );
    assert_eq!(
        listing(&code, Syntax::Intel),
        "lea    rdi,[rip+0x1009]        # 2010 <data+0x10>"
    );
}

#[test]
fn lines_of_script_are_short() {
    for (code, att, intel) in [
        (&[0x48, 0x83, 0xec, 0x08][..], "subq $8, %rsp", "sub rsp, 8"),
        (
            &[0x48, 0x8b, 0x44, 0x24, 0x20],
            "movq 0x20(%rsp), %rax",
            "mov rax, qword ptr [rsp + 0x20]",
        ),
        (&[0xe8, 0xfb, 0x0f, 0, 0], "callq data+0x0", "call data+0x0"),
        (&[0xe8, 0, 0, 0, 0], "callq 0x1005", "call 0x1005"),
        (&[0x75, 0x10], "jne 0x1012", "jne 0x1012"),
        (
            &[0x48, 0x8d, 0x3d, 0x09, 0x10, 0, 0],
            "leaq 0x1009(%rip), %rdi",
            "lea rdi, [rip + 0x1009]",
        ),
    ] {
        assert_eq!(
            (script(code, Syntax::Att), script(code, Syntax::Intel)),
            (att.to_owned(), intel.to_owned())
        );
    }
}

#[test]
fn the_width_counts() {
    let code = [0xb8, 0x34, 0x12];
    assert_eq!(
        text(&code, Width::Bits16, Syntax::Att, LineLayout::Listing).as_deref(),
        Some("mov    $0x1234,%ax")
    );
    let code = [0x40];
    assert_eq!(
        text(&code, Width::Bits32, Syntax::Att, LineLayout::Listing).as_deref(),
        Some("inc    %eax")
    );
}

#[test]
fn listings_of_32_bits_name_an_idle_index_and_no_size_of_the_stack() {
    for (code, att, intel) in [
        (
            &[0xff, 0x74, 0x24, 0x20][..],
            "push   0x20(%esp)",
            "push   DWORD PTR [esp+0x20]",
        ),
        (
            &[0xff, 0xa3, 0x0c, 0, 0, 0],
            "jmp    *0xc(%ebx)",
            "jmp    DWORD PTR [ebx+0xc]",
        ),
        (
            &[0xff, 0x55, 0xc8],
            "call   *-0x38(%ebp)",
            "call   DWORD PTR [ebp-0x38]",
        ),
        (&[0xe8, 0, 0, 0, 0], "call   1005", "call   1005"),
        (
            &[0x8d, 0x76, 0],
            "lea    0x0(%esi),%esi",
            "lea    esi,[esi+0x0]",
        ),
        (
            &[0x8d, 0x74, 0x26, 0],
            "lea    0x0(%esi,%eiz,1),%esi",
            "lea    esi,[esi+eiz*1+0x0]",
        ),
        (
            &[0x8d, 0x34, 0x26],
            "lea    (%esi,%eiz,1),%esi",
            "lea    esi,[esi+eiz*1]",
        ),
        (&[0xa3, 8, 0, 0, 0], "mov    %eax,0x8", "mov    ds:0x8,eax"),
    ] {
        let listing = |syntax| {
            text(code, Width::Bits32, syntax, LineLayout::Listing).expect("an instruction")
        };
        assert_eq!(
            (listing(Syntax::Att), listing(Syntax::Intel)),
            (att.to_owned(), intel.to_owned())
        );
    }
}

#[test]
fn what_is_no_instruction_appends_nothing() {
    for code in [&[][..], &[0x06], &[0xe8, 0, 0], &[0x66; 15]] {
        let mut out = String::from("kept");
        let mut disassembler = Disassembler::new(Width::Bits64, Syntax::Att, LineLayout::Listing);
        assert_eq!(
            disassembler.write(code, 0, &mut |_, _| true, &mut out),
            None
        );
        assert_eq!(out, "kept");
    }
}
