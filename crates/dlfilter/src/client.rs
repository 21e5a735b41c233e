//! The program's side: samples go out, questions are answered, decisions come back.

use std::os::unix::net::UnixStream;

use crate::DlfilterError;
use crate::message::{FilterSample, Kind, Reading, ResolvedAddress, Which, Writing};

/// Answers what a filter asks about the sample at hand. What nobody knows is `None`.
pub trait Resolver {
    /// The facts about an address.
    fn place(&mut self, _: Which) -> Option<ResolvedAddress> {
        None
    }

    /// The bytes of the sample's instruction.
    fn instruction(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// The source file and line of the sample's address.
    fn source_line(&mut self) -> Option<(String, u32)> {
        None
    }

    /// The event's attribute as the kernel lays it out.
    fn attribute(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// At most so many bytes of code from an address on.
    fn code(&mut self, _address: u64, _length: u32) -> Option<Vec<u8>> {
        None
    }
}

/// The decision of a filter about a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// True if the sample is to be shown.
    pub keeps: bool,
    /// The text that the filter printed meanwhile.
    pub printed: Vec<u8>,
}

/// The numbers of questions.
pub(crate) mod question {
    pub(crate) const PLACE: u64 = 0;
    pub(crate) const INSTRUCTION: u64 = 1;
    pub(crate) const SOURCE_LINE: u64 = 2;
    pub(crate) const ATTRIBUTE: u64 = 3;
    pub(crate) const CODE: u64 = 4;
}

/// A filter that has started, in another process.
pub struct Client {
    socket: UnixStream,
    early: bool,
    late: bool,
    printed: Vec<u8>,
}

impl Client {
    /// Starts the filter that the process behind the socket serves, with the user's arguments.
    ///
    /// # Errors
    /// The filter cannot be loaded, or refuses.
    pub fn start(mut socket: UnixStream, arguments: &[String]) -> Result<Client, DlfilterError> {
        let mut message = Writing::new(Kind::Start);
        message.number(arguments.len() as u64);
        arguments.iter().for_each(|argument| {
            message.bytes(argument.as_bytes());
        });
        message.send(&mut socket)?;
        let mut started = expect(&mut socket, Kind::Started)?;
        let (early, late, printed) = (
            started.number()? != 0,
            started.number()? != 0,
            started.bytes()?,
        );
        Ok(Client {
            socket,
            early,
            late,
            printed,
        })
    }

    /// The text that the filter printed when it started.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    /// Returns whether the filter wants samples before everything else is filtered, or behind that.
    pub fn wants(&self, early: bool) -> bool {
        if early { self.early } else { self.late }
    }

    /// Lets the filter decide on a sample; a filter that does not want it keeps it.
    ///
    /// # Errors
    /// The filter failed, or its process has ended.
    pub fn ask(
        &mut self,
        early: bool,
        sample: &FilterSample,
        resolver: &mut dyn Resolver,
    ) -> Result<Decision, DlfilterError> {
        if !self.wants(early) {
            return Ok(Decision {
                keeps: true,
                printed: Vec::new(),
            });
        }
        let mut message = Writing::new(Kind::Sample);
        message.number(early.into());
        sample.write(&mut message);
        message.send(&mut self.socket)?;
        loop {
            let mut message = Reading::receive(&mut self.socket)?;
            match message.kind() {
                Kind::Question => answer(&mut message, resolver)?.send(&mut self.socket)?,
                Kind::Decided => {
                    return decided(
                        &mut message,
                        if early {
                            "filter_event_early"
                        } else {
                            "filter_event"
                        },
                    );
                }
                Kind::Failed => return Err(DlfilterError::Load(message.text()?)),
                _ => return Err(DlfilterError::Message("a kind that was not due")),
            }
        }
    }

    /// Ends the filter; gives what it printed.
    ///
    /// # Errors
    /// The filter's `stop` failed, or its process has ended.
    pub fn stop(mut self) -> Result<Vec<u8>, DlfilterError> {
        Writing::new(Kind::Stop).send(&mut self.socket)?;
        let mut message = expect(&mut self.socket, Kind::Decided)?;
        decided(&mut message, "stop").map(|decision| decision.printed)
    }
}

fn decided(message: &mut Reading, function: &'static str) -> Result<Decision, DlfilterError> {
    let (code, printed) = (message.number()? as i32, message.bytes()?);
    match code {
        code if code < 0 => Err(DlfilterError::Refused { function, code }),
        code => Ok(Decision {
            keeps: code == 0,
            printed,
        }),
    }
}

fn expect(socket: &mut UnixStream, kind: Kind) -> Result<Reading, DlfilterError> {
    let mut message = Reading::receive(socket)?;
    match message.kind() {
        found if found == kind => Ok(message),
        Kind::Failed => Err(DlfilterError::Load(message.text()?)),
        _ => Err(DlfilterError::Message("a kind that was not due")),
    }
}

fn answer(asked: &mut Reading, resolver: &mut dyn Resolver) -> Result<Writing, DlfilterError> {
    let mut answer = Writing::new(Kind::Answer);
    match asked.number()? {
        question::PLACE => {
            let place = resolver.place(Which::read(asked)?);
            answer.optional(place, |answer, place| place.write(answer));
        }
        question::INSTRUCTION => {
            answer.optional(resolver.instruction(), |answer, bytes| {
                answer.bytes(&bytes);
            });
        }
        question::SOURCE_LINE => {
            answer.optional(resolver.source_line(), |answer, (file, line)| {
                answer.bytes(file.as_bytes()).number(line.into());
            });
        }
        question::ATTRIBUTE => {
            answer.bytes(&resolver.attribute());
        }
        question::CODE => {
            let (address, length) = (asked.number()?, asked.number()?);
            let code = resolver.code(address, u32::try_from(length).unwrap_or(u32::MAX));
            answer.optional(code, |answer, bytes| {
                answer.bytes(&bytes);
            });
        }
        _ => return Err(DlfilterError::Message("a question")),
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the helper may say.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Said {
        Started,
        Keeps,
        Drops,
        Fails,
        Asks(u64),
        Gone,
        OutOfTurn(Kind),
        Cut,
    }

    const ALL: [Said; 15] = [
        Said::Started,
        Said::Keeps,
        Said::Drops,
        Said::Fails,
        Said::Asks(question::PLACE),
        Said::Asks(question::INSTRUCTION),
        Said::Asks(question::SOURCE_LINE),
        Said::Asks(question::ATTRIBUTE),
        Said::Asks(question::CODE),
        Said::Asks(99),
        Said::Gone,
        Said::OutOfTurn(Kind::Start),
        Said::OutOfTurn(Kind::Answer),
        Said::OutOfTurn(Kind::Stop),
        Said::Cut,
    ];

    impl Said {
        fn message(self) -> Writing {
            let mut message = Writing::new(match self {
                Said::Started => Kind::Started,
                Said::Keeps | Said::Drops | Said::Fails | Said::Cut => Kind::Decided,
                Said::Asks(_) => Kind::Question,
                Said::Gone => Kind::Failed,
                Said::OutOfTurn(kind) => kind,
            });
            match self {
                Said::Started => message.number(1).number(1).bytes(b""),
                Said::Keeps => message.number(0).bytes(b"kept"),
                Said::Drops => message.number(1).bytes(b"left out"),
                Said::Fails => message.number(-7i64 as u64).bytes(b""),
                // An address and a length are enough for each question.
                Said::Asks(which) => message.number(which).number(2).number(3),
                Said::Gone => message.bytes(b"gone"),
                Said::OutOfTurn(_) => message.number(0).bytes(b""),
                Said::Cut => message.number(0).number(1000),
            };
            message
        }

        fn asks_well(self) -> bool {
            matches!(self, Said::Asks(which) if which <= question::CODE)
        }
    }

    /// The expected outcome of asking about a sample, by what the protocol says: the first answer that is none of its
    /// questions.
    fn expected(said: &[Said]) -> Result<bool, &'static str> {
        match said.iter().find(|said| !said.asks_well()) {
            Some(Said::Keeps) => Ok(true),
            Some(Said::Drops) => Ok(false),
            Some(Said::Fails) => Err("filter_event_early failed with -7"),
            Some(Said::Gone) => Err("gone"),
            Some(_) => Err("makes no sense"),
            None => Err("process ended"),
        }
    }

    struct Knows;
    impl Resolver for Knows {
        fn place(&mut self, _: Which) -> Option<ResolvedAddress> {
            Some(ResolvedAddress::default())
        }
    }

    /// A client whose helper has said all that it will, and the helper's end, which takes answers.
    fn client(said: &[Said]) -> (Client, UnixStream) {
        let (mut helper, socket) = UnixStream::pair().unwrap();
        for each in said {
            each.message().send(&mut helper).unwrap();
        }
        helper.shutdown(std::net::Shutdown::Write).unwrap();
        (
            Client {
                socket,
                early: true,
                late: false,
                printed: Vec::new(),
            },
            helper,
        )
    }

    fn check(said: &[Said]) {
        let (mut client, _helper) = client(said);
        let decided = client.ask(true, &FilterSample::default(), &mut Knows);
        match (expected(said), decided) {
            (Ok(keeps), Ok(decision)) => assert_eq!(decision.keeps, keeps, "{said:?}"),
            (Err(why), Err(error)) => assert!(error.to_string().contains(why), "{said:?}: {error}"),
            (expected, decided) => panic!("{said:?}: {expected:?}, but {decided:?}"),
        }
    }

    #[test]
    fn every_sequence_of_messages_ends_in_a_decision_or_a_reason() {
        check(&[]);
        for first in ALL {
            check(&[first]);
            for second in ALL {
                check(&[first, second]);
                if first.asks_well() && second.asks_well() {
                    ALL.iter().for_each(|third| check(&[first, second, *third]));
                }
            }
        }
    }
}
