//! The socket of a sample's CPU.

use super::{NumberCell, NumberInput, NumberKey, NumberOrder};

/// `socket`: the number of the socket.
pub static SOCKET: NumberKey = NumberKey {
    name: "socket",
    heading: "Socket",
    width: 0,
    cell: NumberCell::ZeroFilled { blank: 3 },
    order: NumberOrder::Rising,
    value: socket,
};

fn socket(input: &NumberInput<'_>) -> Option<u64> {
    let cpu = input.sample.cpu?.0 as usize;
    let socket = input.options.sockets.get(cpu).copied().flatten();
    socket.map(u64::from)
}
