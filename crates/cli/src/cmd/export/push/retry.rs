//! When a message is sent again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oxperf_present::export::PartialSuccess;
use oxperf_present::text::calendar::CivilTime;

/// The delay before the first time that a message is sent again.
const FIRST: Duration = Duration::from_millis(250);
/// So often a message is sent again at most.
const TIMES: u32 = 6;
/// The longest delay that a receiver may ask for.
const LONGEST: Duration = Duration::from_secs(60);

/// What became of a message.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The receiver took it, and may have had something to say.
    Taken(Option<PartialSuccess>),
    /// It may take it later: why not now, and when.
    Busy(String, Option<String>),
    /// It does not take it.
    Refused(String),
}

/// The delays of one message.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// So often it was sent again.
    times: u32,
}

impl Backoff {
    /// `true` behind the first delay.
    pub(super) const fn is_first(&self) -> bool {
        self.times == 1
    }

    /// The delay before the message is sent again; else the reason why it is not. `hint` is what the receiver's `Retry-After` says.
    pub(super) fn next(&mut self, hint: Option<&str>, now: SystemTime) -> Result<Duration, String> {
        if self.times == TIMES {
            return Err(format!("it was sent {} times", TIMES + 1));
        }
        let asked = hint.and_then(|hint| retry_after(hint, now));
        if let Some(asked) = asked.filter(|asked| *asked > LONGEST) {
            let (asked, longest) = (asked.as_secs(), LONGEST.as_secs());
            return Err(format!(
                "it asks to wait for {asked} s, which is more than {longest} s"
            ));
        }
        let delay = asked.unwrap_or_else(|| spread(FIRST * 2_u32.pow(self.times)));
        self.times += 1;
        Ok(delay)
    }
}

/// A delay that is up to a quarter longer: many that were refused at one moment do not come back at one moment.
fn spread(delay: Duration) -> Duration {
    let random = RandomState::new().hash_one(0);
    delay + delay.mul_f64((random % 256) as f64 / 1024.0)
}

/// The delay that a `Retry-After` asks for: seconds, or a date of HTTP.
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = UNIX_EPOCH.checked_add(Duration::from_secs(http_date(text)?))?;
    Some(moment.duration_since(now).unwrap_or_default())
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(", ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let &[day, month, year, time, "GMT"] = &words[..] else {
        return None;
    };
    let mut clock = time.split(':').map(|number| number.parse::<u8>().ok());
    let [hour, minute, second] = [clock.next()??, clock.next()??, clock.next()??];
    let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    let month = (1..)
        .zip(months.split(' '))
        .find(|(_, name)| *name == month)?;
    let moment = CivilTime {
        year: year
            .parse()
            .ok()
            .filter(|year| (1970..10_000).contains(year))?,
        month: month.0,
        day: day.parse().ok().filter(|day| (1..=31).contains(day))?,
        weekday: 0,
        hour,
        minute,
        second,
    };
    u64::try_from(moment.unix_seconds()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const MOMENT: u64 = 784_111_777;

    #[test]
    fn delays_grow_and_end() {
        let mut backoff = Backoff::default();
        let mut last = Duration::ZERO;
        for _ in 0..TIMES {
            let delay = backoff.next(None, SystemTime::now()).unwrap();
            assert!(
                delay > last && delay <= Duration::from_secs(10),
                "{delay:?}"
            );
            last = delay;
        }
        let end = backoff.next(None, SystemTime::now()).unwrap_err();
        assert_eq!(end, "it was sent 7 times");
    }

    #[test]
    fn a_receiver_says_when_it_wants_the_message_within_limits() {
        let now = UNIX_EPOCH + Duration::from_secs(MOMENT - 5);
        let asked = |hint| Backoff::default().next(Some(hint), now);
        assert_eq!(asked("7"), Ok(Duration::from_secs(7)));
        assert_eq!(asked(" 0 "), Ok(Duration::ZERO));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(asked(date), Ok(Duration::from_secs(5)));
        let past = "Sat, 05 Nov 1994 08:49:37 GMT";
        assert_eq!(asked(past), Ok(Duration::ZERO));
        let end = asked("3600").unwrap_err();
        assert_eq!(end, "it asks to wait for 3600 s, which is more than 60 s");
        assert!(asked("Thu, 01 Jan 9999 00:00:00 GMT").is_err());
    }

    #[test]
    fn what_is_no_time_is_as_if_it_were_not_there() {
        for hint in [
            "soon",
            "-1",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1 08:49:37 GMT",
        ] {
            let delay = Backoff::default().next(Some(hint), UNIX_EPOCH).unwrap();
            assert!(delay < 2 * FIRST, "{hint}: {delay:?}");
        }
    }
}
