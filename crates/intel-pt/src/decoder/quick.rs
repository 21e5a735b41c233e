//! Hopping: only the addresses that packets name are told, and no code is walked.

use super::Decoder;
use crate::code::CodeSource;
use crate::config::QuickMode;
use crate::item::Item;
use crate::packet::{Ip, Packet};

impl Decoder<'_> {
    /// Whether code is not walked.
    #[inline]
    pub(super) fn is_quick(&self) -> bool {
        self.wanted.quick != QuickMode::Walk
    }

    /// A packet that steers the flow of control, or an event.
    pub(super) fn on_quick(&mut self, packet: Packet, code: &impl CodeSource) {
        if !matches!(packet, Packet::Fup(_) | Packet::Pad) {
            self.bound.mode = None;
        }
        match packet {
            Packet::Tnt(_) => {}
            Packet::Tip(ip) => self.quick_to(ip, code),
            Packet::TipPgd(ip) => {
                let to = self.resolve(ip);
                self.stop_tracing(to.unwrap_or(self.ip()));
                if let Some(to) = to {
                    self.tell_now(Item::Begin {
                        to,
                        enabled: false,
                        end: true,
                    });
                }
            }
            Packet::Fup(ip) => self.quick_fup(ip, code),
            Packet::TipPge(ip) => {
                self.on_enable(ip, code);
                self.tell_address();
            }
            other => self.on_steering(other, code),
        }
    }

    fn quick_to(&mut self, ip: Ip, code: &impl CodeSource) {
        if let Some(to) = self.resolve(ip) {
            self.switch_context();
            self.node = Some(self.graph.node_at(to, self.context, code));
            self.tell_address();
        }
    }

    fn quick_fup(&mut self, ip: Ip, code: &impl CodeSource) {
        let Some(ip) = self.resolve(ip) else { return };
        self.node = Some(self.graph.node_at(ip, self.context, code));
        if !self.config.branches || !self.enabled {
            let begins = self.on_fup_outside(ip);
            if !begins {
                self.tell_address();
            }
            return;
        }
        let leaves = self.bound.leaves();
        self.tell_bound(Some(ip));
        self.leaving = leaves.then_some(ip);
        // What leaves from here is told with where it leads to.
        if !leaves {
            self.tell_address();
        }
    }

    /// Tells where the program is.
    pub(super) fn tell_address(&mut self) {
        if self.is_quick() && self.node.is_some() {
            self.tell_now(Item::Address { ip: self.ip() });
        }
    }
}
