//! Recordings for tests, written as text: a record a line.
//!
//! For the tests of every crate above `oxperf-abi`. The bytes come from a small encoder of its own, so that the
//! encoder of `oxperf-wire` never vouches for its decoder. Only what tests need is here: nothing reads `perf.data`,
//! and broken notation is an error, never a guess.
//!
//! ```
//! use oxperf_testkit::{Endian, Recording};
//!
//! let recording = Recording::parse(
//!     "file endian=big
//!      event cycles sample=IP|TID|TIME flags=sample_id_all ids=1
//!      comm pid=7 tid=7 sleep | time=90
//!      mmap pid=7 tid=7 0x400000+0x1000@0 /bin/sleep | time=95
//!      sample mode=user ip=0x400010 pid=7 tid=7 time=100
//!      feature hostname string=vm",
//! )?;
//! assert_eq!(recording.endian(), Endian::Big);
//! assert_eq!(recording.records().len(), 3);
//! assert_eq!(&recording.to_file()[..8], b"2ELIFREP");
//! # Ok::<(), oxperf_testkit::NotationError>(())
//! ```
//!
//! # The notation
//!
//! Empty lines and lines that begin with `#` are skipped. A line is words: the first says what it is, `key=value`
//! words are fields, other words are names or flags. `"..."` holds blanks. Numbers are decimal or `0x` hexadecimal,
//! negative where the field is signed; `HEX` is pairs of hexadecimal digits; `A|B` is a set of bits by perf's names.
//! Fields that are left out are 0.
//!
//! | line | words |
//! |---|---|
//! | `file` | `endian=little\|big`, `attr_size=N` (64 to 144), `data_size=N` (what the header claims), `truncate=N` (bytes to keep), `unfinished=1` (without any feature, as while recorders write) |
//! | `event NAME` | `sample=A\|B`, `read=A\|B`, `flags=a\|b`, `branch=A\|B`, `ids=1,2`, `period=`, `freq=`, `precise=`, `type=`, `config=`, `config1=`, `config2=`, `config3=`, `config4=`, `regs_user=`, `regs_intr=`, `stack_user=`, `max_stack=`, `clockid=`; NAME is a generic hardware or software event, or anything where `type=` is given |
//! | `mmap` | `pid=`, `tid=`, `ADDR+LEN@PGOFF`, name |
//! | `mmap2` | the same, and `maj=`, `min=`, `ino=`, `gen=` or `build_id=HEX`; `prot=`, `flags=` |
//! | `comm` | `pid=`, `tid=`, name |
//! | `fork`, `exit` | `pid=`, `ppid=`, `tid=`, `ptid=`, `time=` |
//! | `lost` | `id=`, `lost=` |
//! | `lost_samples` | `lost=` |
//! | `throttle`, `unthrottle` | `time=`, `id=`, `stream_id=` |
//! | `sample` | `event=N` (which event line, from 0) or the event that owns `id=`, else the first; then a field for every bit of `sample=`, see below |
//! | `callchain_deferred` | `cookie=`, `chain=` as of samples |
//! | `switch`, `switch_cpu_wide`, `itrace_start` | `pid=`, `tid=` (not of `switch`); `misc=0x2000` is "out" |
//! | `aux` | `offset=`, `size=`, `flags=` |
//! | `aux_output_hw_id` | `hw_id=` |
//! | `text_poke` | `addr=`, `old=HEX`, `new=HEX` |
//! | `ksymbol` | `addr=`, `len=`, `kind=`, `flags=`, name |
//! | `auxtrace_info` | `pmu=8`, `shift=`, `mult=1`, `zero=`, `cap_time=1`, `switch=`, `snapshot=`, `per_cpu=1`, `numerator=2`, `denominator=2`, `ratio=30`, `filter=TEXT`, `event_trace=` |
//! | `auxtrace` | `index=`, `cpu=-1`, `tid=-1`, `reference=`, `offset=`, `packets="..."`, see below |
//! | `finished_round`, `finished_init` | nothing |
//! | `raw` | `type=N`, `body=HEX` |
//! | `feature NAME\|N` | contents in order: `string=TEXT`, `u32=1,2`, `u64=1,2`, `bytes=HEX` |
//!
//! A file without any `feature` line gets one, TOTAL_MEM of 0 KiB, because recorders add features when they close a file.
//!
//! Every record also takes `misc=N` and `mode=kernel|user|hypervisor|guest_kernel|guest_user`, added to `misc`.
//! After a lone `|` come the fields of the sample id trailer (`pid=`, `tid=`, `time=`, `id=`, `stream_id=`, `cpu=`,
//! `event=`), which is written for kernel records when the event has `sample_id_all`; pid and tid are the record's
//! unless given, and `id` is the event's first.
//!
//! Sample fields: `ip addr pid tid time id stream_id cpu period weight data_src transaction phys_addr cgroup
//! data_page_size code_page_size` are numbers; `weight_struct=A/B/C`; `read=1,2,3` the words of the read block;
//! `chain=kernel,0x..,user,0x..` (markers `hypervisor kernel user user_deferred guest guest_kernel guest_user`);
//! `raw=HEX`, `aux=HEX`; `branches=FROM>TO:FLAGS,..` with `hw_idx=`; `regs_user=ABI:V,V`, `regs_intr=ABI:V,V`;
//! `stack_user=HEX:DYN`. A field that the event does not have is an error.
//!
//! Packets of Intel PT: `psb psbend pad ovf stop`, `tip=IP fup=IP pge=IP pgd=IP` (or without IP), `tnt=TNT`,
//! `mode=16|32|64/if`, `tsx/in/abort`, `tsc=N tma=CTC:FC mtc=N cbr=N cyc=N`, `pip=CR3/nr`, `vmcs=N`, `ptw=N/ip`,
//! `mwait=N pwre=N exstop/ip pwrx=N`, `bbp=TYPE/4 bip=ID:N bip4=ID:N bep/ip`, `cfe=TYPE:VECTOR/ip evd=TYPE:N`,
//! `bytes=HEX`. A second word `packets=` is not possible: a long trace is one long line or several pieces.
//!
//! Programs for such recordings are [`Image`]s, in a notation of their own.

mod bytes;
mod error;
mod event;
mod feature;
mod file;
mod hostile;
mod image;
mod line;
mod number;
pub mod otlp;
mod record;
mod recording;
mod sample;
mod schedule;
mod trace;
mod trailer;

pub use bytes::Endian;
pub use error::NotationError;
pub use hostile::{Hostile, HostileShape};
pub use image::Image;
pub use recording::Recording;
pub use schedule::{ThreadBody, Turn, every_order};
