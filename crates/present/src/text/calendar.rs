//! Seconds since 1970 as a date and a time of day.

/// A moment in the Gregorian calendar at some distance from UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CivilTime {
    /// Year.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Day of the week, 0 is Sunday.
    pub weekday: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
}

const DAY: i64 = 86400;
/// Days in 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;
/// Days from the first of March of the year 0 to 1970-01-01.
const EPOCH: i64 = 719_468;

impl CivilTime {
    /// The moment `seconds` after the start of 1970 UTC, shown `utc_offset` seconds east of UTC.
    pub fn new(seconds: i64, utc_offset: i32) -> CivilTime {
        let local = seconds.saturating_add(i64::from(utc_offset));
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = date(days);
        CivilTime {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7) as u8,
            hour: (rest / 3600) as u8,
            minute: (rest / 60 % 60) as u8,
            second: (rest % 60) as u8,
        }
    }

    /// Seconds since 1970 of a moment that is given in UTC.
    pub fn unix_seconds(&self) -> i64 {
        // Years begin in March inside, so that a leap day is the last.
        let year = self.year - i64::from(self.month <= 2);
        let month_from_march = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(self.day) - 1;
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let hours = 24 * (days + day_of_year - EPOCH) + i64::from(self.hour);
        (60 * hours + i64::from(self.minute)) * 60 + i64::from(self.second)
    }

    /// The form of `ctime(3)`, such as `Sat Nov 21 03:01:00 2026`.
    pub fn ctime(&self) -> String {
        let name = |names: &str, index: u8| {
            names
                .split(' ')
                .nth(index.into())
                .unwrap_or_default()
                .to_owned()
        };
        let weekday = name("Sun Mon Tue Wed Thu Fri Sat", self.weekday);
        let month = name(
            "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
            self.month - 1,
        );
        let CivilTime {
            year,
            day,
            hour,
            minute,
            second,
            ..
        } = self;
        format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
    }

    /// The form `2026-11-21 03:01:00`.
    pub fn date_time(&self) -> String {
        let CivilTime {
            year,
            month,
            day,
            hour,
            minute,
            second,
            ..
        } = self;
        format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }

    /// The form `2026-11-21T03:01:00Z` of a moment that is shown in UTC.
    pub fn iso_utc(&self) -> String {
        let mut text = self.date_time().replace(' ', "T");
        text.push('Z');
        text
    }
}

/// Year, month and day of a day counted from 1970-01-01. Years begin in March inside, so that a leap day is the last.
fn date(days: i64) -> (i64, u8, u8) {
    let days = days + EPOCH;
    let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(CivilTime::new(0, 0).ctime(), "Thu Jan  1 00:00:00 1970");
        assert_eq!(
            CivilTime::new(1_795_229_583, 0).date_time(),
            "2026-11-21 02:53:03"
        );
        assert_eq!(
            CivilTime::new(951_782_400, 0).date_time(),
            "2000-02-29 00:00:00"
        );
        assert_eq!(CivilTime::new(-1, 0).date_time(), "1969-12-31 23:59:59");
        assert_eq!(CivilTime::new(0, 0).iso_utc(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn seconds_come_back() {
        for seconds in [
            0,
            -1,
            951_782_399,
            951_782_400,
            1_795_229_583,
            -62_135_596_800,
        ] {
            assert_eq!(CivilTime::new(seconds, 0).unix_seconds(), seconds);
        }
    }

    #[test]
    fn an_offset_moves_the_day() {
        assert_eq!(
            CivilTime::new(1_795_229_583, -4 * 3600).ctime(),
            "Fri Nov 20 22:53:03 2026"
        );
        assert_eq!(CivilTime::new(1_795_229_583, 22 * 3600).weekday, 0);
    }

    #[test]
    fn no_number_overflows() {
        CivilTime::new(i64::MAX, i32::MAX);
        CivilTime::new(i64::MIN, i32::MIN);
    }
}
