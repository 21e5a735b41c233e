//! Work on several threads whose results come in the order of the tasks.
//!
//! [`OrderedPool`] hands tasks to its workers and gives their results in the order in which the tasks were submitted:
//! text that is made in parallel is written as if one thread had made it. [`write_in_order`] does so for the items of a
//! list that is at hand, and [`BackgroundWriter`] writes text out while more of it is made. Nothing here knows what the
//! tasks and texts are about.
//!
//! ```
//! use oxperf_ordered::write_in_order;
//!
//! let mut text = Vec::new();
//! write_in_order(&mut text, 1000, |range, out| {
//!     for item in range {
//!         out.extend_from_slice(format!("{item}\n").as_bytes());
//!     }
//! })?;
//! assert!(text.starts_with(b"0\n1\n2\n") && text.ends_with(b"\n999\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod background_writer;
mod pool;
mod write;

pub use background_writer::BackgroundWriter;
pub use pool::{OrderedPool, TaskQueue};
pub use write::write_in_order;
