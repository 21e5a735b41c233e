//! The namespaces of a thread.

use oxperf_abi::{Pid, Tid};

use crate::{Cursor, Encoder, WireError, Words};

/// One namespace: the device and inode of its `/proc/PID/ns` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Namespace {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

/// The namespaces of a thread: net, uts, ipc, pid, user, mnt, cgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Namespaces<'a> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// Device and inode of each, one after another.
    words: Words<'a>,
}

impl<'a> Namespaces<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Namespaces<'a>, WireError> {
        let (pid, tid) = (Pid(cursor.i32()?), Tid(cursor.i32()?));
        let count = cursor.u64()?;
        let words = Words::new(cursor.items(count, 16)?, cursor.endian());
        Ok(Namespaces { pid, tid, words })
    }

    /// The namespaces in the kernel's order.
    pub fn links(&self) -> impl Iterator<Item = Namespace> + use<'a> {
        let mut words = self.words.iter();
        std::iter::from_fn(move || {
            Some(Namespace {
                device: words.next()?,
                inode: words.next()?,
            })
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        encoder.u64((self.words.len() / 2) as u64);
        self.words.iter().for_each(|word| encoder.u64(word));
    }

    /// Appends the body of such a record.
    pub fn encode_links(pid: Pid, tid: Tid, links: &[Namespace], encoder: &mut Encoder) {
        encoder.i32(pid.0);
        encoder.i32(tid.0);
        encoder.u64(links.len() as u64);
        for link in links {
            encoder.u64(link.device);
            encoder.u64(link.inode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let links = [
            Namespace {
                device: 4,
                inode: 5,
            },
            Namespace {
                device: 4,
                inode: 6,
            },
        ];
        let mut body = Encoder::new(Endian::Big);
        Namespaces::encode_links(Pid(1), Tid(2), &links, &mut body);
        let read = Namespaces::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)).unwrap();
        assert_eq!(read.links().collect::<Vec<_>>(), links);
    }
}
