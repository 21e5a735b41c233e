//! Bytes of protocol buffers to the messages.

use super::{
    OtlpDictionary, OtlpLocation, OtlpMapping, OtlpProfile, OtlpRequest, OtlpResource, OtlpSample,
    OtlpValue,
};

/// The reason why bytes are no such message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {fault}")]
pub struct OtlpError {
    /// The message.
    message: &'static str,
    fault: String,
}

/// A field's value as it stands in the bytes.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Varint(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

type Decoded<T> = Result<T, OtlpError>;

/// A field, and the message that it is of.
#[derive(Clone, Copy, Debug)]
struct Field<'a> {
    message: &'static str,
    number: u64,
    value: Value<'a>,
}

impl<'a> Field<'a> {
    fn fault<T>(&self, fault: &str) -> Decoded<T> {
        Err(OtlpError {
            message: self.message,
            fault: format!("field {}: {fault}, found {:?}", self.number, self.value),
        })
    }

    fn unknown<T>(&self) -> Decoded<T> {
        self.fault("no such field")
    }

    fn bytes(&self) -> Decoded<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => self.fault("bytes expected"),
        }
    }

    fn varint(&self) -> Decoded<u64> {
        match self.value {
            Value::Varint(number) => Ok(number),
            _ => self.fault("a varint expected"),
        }
    }

    /// An index or another number that is not negative.
    fn index(&self) -> Decoded<u64> {
        let number = self.varint()?;
        match i32::try_from(number) {
            Ok(_) => Ok(number),
            Err(_) => self.fault("a number of 31 bits expected"),
        }
    }

    fn text(&self) -> Decoded<String> {
        match std::str::from_utf8(self.bytes()?) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => self.fault("UTF-8 expected"),
        }
    }

    fn packed(&self) -> Decoded<Vec<u64>> {
        let mut rest = self.bytes()?;
        let mut numbers = Vec::new();
        while !rest.is_empty() {
            numbers.push(varint(self.message, &mut rest)?);
        }
        Ok(numbers)
    }

    fn packed_fixed(&self) -> Decoded<Vec<u64>> {
        let bytes = self.bytes()?;
        if bytes.len() % 8 > 0 {
            return self.fault("eight bytes a number expected");
        }
        let numbers = bytes.chunks_exact(8);
        Ok(numbers
            .map(|number| u64::from_le_bytes(number.try_into().unwrap_or_default()))
            .collect())
    }
}

fn varint(message: &'static str, bytes: &mut &[u8]) -> Decoded<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let Some((first, rest)) = bytes.split_first() else {
            break;
        };
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    let fault = "a varint does not end".to_owned();
    Err(OtlpError { message, fault })
}

/// Hands each field of a message to `take`.
fn each<'a>(
    message: &'static str,
    mut bytes: &'a [u8],
    mut take: impl FnMut(Field<'a>) -> Decoded<()>,
) -> Decoded<()> {
    while !bytes.is_empty() {
        let key = varint(message, &mut bytes)?;
        let cut = |bytes: &mut &'a [u8], length: u64| -> Decoded<&'a [u8]> {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let Some((first, rest)) = bytes.split_at_checked(length) else {
                let fault = format!("field {}: {length} bytes end behind it", key >> 3);
                return Err(OtlpError { message, fault });
            };
            *bytes = rest;
            Ok(first)
        };
        let value = match key & 7 {
            0 => Value::Varint(varint(message, &mut bytes)?),
            1 => {
                let number = cut(&mut bytes, 8)?.try_into().unwrap_or_default();
                Value::Fixed(u64::from_le_bytes(number))
            }
            2 => {
                let length = varint(message, &mut bytes)?;
                Value::Bytes(cut(&mut bytes, length)?)
            }
            kind => {
                let fault = format!("field {}: wire type {kind}", key >> 3);
                return Err(OtlpError { message, fault });
            }
        };
        let number = key >> 3;
        take(Field {
            message,
            number,
            value,
        })?;
    }
    Ok(())
}

impl OtlpRequest {
    /// Reads a message.
    ///
    /// # Errors
    /// It is none, or has a field that the protocol does not have.
    pub fn decode(bytes: &[u8]) -> Result<OtlpRequest, OtlpError> {
        let mut request = OtlpRequest::default();
        each("ExportProfilesServiceRequest", bytes, |field| {
            match field.number {
                1 => request.resources.push(resource_profiles(field.bytes()?)?),
                2 => request.dictionary = dictionary(field.bytes()?)?,
                _ => return field.unknown(),
            }
            Ok(())
        })?;
        Ok(request)
    }
}

fn resource_profiles(bytes: &[u8]) -> Decoded<OtlpResource> {
    let mut found = OtlpResource::default();
    each("ResourceProfiles", bytes, |field| {
        match field.number {
            1 => each("Resource", field.bytes()?, |field| match field.number {
                1 => {
                    found.attributes.push(key_value(field.bytes()?)?);
                    Ok(())
                }
                _ => field.unknown(),
            })?,
            2 => found.scopes.push(scope_profiles(field.bytes()?)?),
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn scope_profiles(bytes: &[u8]) -> Decoded<((String, String), Vec<OtlpProfile>)> {
    let (mut scope, mut profiles) = <((String, String), Vec<OtlpProfile>)>::default();
    each("ScopeProfiles", bytes, |field| {
        match field.number {
            1 => each("InstrumentationScope", field.bytes()?, |field| {
                match field.number {
                    1 => scope.0 = field.text()?,
                    2 => scope.1 = field.text()?,
                    _ => return field.unknown(),
                }
                Ok(())
            })?,
            2 => profiles.push(profile(field.bytes()?)?),
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok((scope, profiles))
}

fn key_value(bytes: &[u8]) -> Decoded<(String, OtlpValue)> {
    let (mut key, mut value) = <(String, OtlpValue)>::default();
    each("KeyValue", bytes, |field| {
        match field.number {
            1 => key = field.text()?,
            2 => value = any_value(field.bytes()?)?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok((key, value))
}

fn any_value(bytes: &[u8]) -> Decoded<OtlpValue> {
    let mut value = OtlpValue::Unset;
    each("AnyValue", bytes, |field| {
        value = match field.number {
            1 => OtlpValue::Text(field.text()?),
            3 => OtlpValue::Number(field.varint()?.cast_signed()),
            5 => {
                let mut list = Vec::new();
                each("ArrayValue", field.bytes()?, |field| match field.number {
                    1 => {
                        list.push(any_value(field.bytes()?)?);
                        Ok(())
                    }
                    _ => field.unknown(),
                })?;
                OtlpValue::List(list)
            }
            _ => return field.unknown(),
        };
        Ok(())
    })?;
    Ok(value)
}

fn value_type(bytes: &[u8]) -> Decoded<(u64, u64)> {
    let mut found = (0, 0);
    each("ValueType", bytes, |field| {
        match field.number {
            1 => found.0 = field.index()?,
            2 => found.1 = field.index()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn profile(bytes: &[u8]) -> Decoded<OtlpProfile> {
    let mut found = OtlpProfile::default();
    each("Profile", bytes, |field| {
        match (field.number, field.value) {
            (1, _) => found.sample_type = value_type(field.bytes()?)?,
            (2, _) => found.samples.push(sample(field.bytes()?)?),
            (3, Value::Fixed(time)) => found.time = time,
            (4, _) => found.duration = field.varint()?,
            (5, _) => found.period_type = value_type(field.bytes()?)?,
            (6, _) => found.period = field.varint()?.cast_signed(),
            (7, _) => found.id = field.bytes()?.to_vec(),
            (11, _) => found.attribute_indices = field.packed()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn sample(bytes: &[u8]) -> Decoded<OtlpSample> {
    let mut found = OtlpSample::default();
    each("Sample", bytes, |field| {
        match field.number {
            1 => found.stack_index = field.index()?,
            2 => found.attribute_indices = field.packed()?,
            3 => found.link_index = field.index()?,
            4 => found.values = field.packed()?.into_iter().map(u64::cast_signed).collect(),
            5 => found.times = field.packed_fixed()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn dictionary(bytes: &[u8]) -> Decoded<OtlpDictionary> {
    let mut found = OtlpDictionary::default();
    each("ProfilesDictionary", bytes, |field| {
        match field.number {
            1 => found.mappings.push(mapping(field.bytes()?)?),
            2 => found.locations.push(location(field.bytes()?)?),
            3 => found.functions.push(numbers("Function", field.bytes()?)?),
            4 => found.links.push(link(field.bytes()?)?),
            5 => found.strings.push(field.text()?),
            6 => found.attributes.push(key_value_and_unit(field.bytes()?)?),
            7 => found.stacks.push(stack(field.bytes()?)?),
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn mapping(bytes: &[u8]) -> Decoded<OtlpMapping> {
    let mut found = OtlpMapping::default();
    each("Mapping", bytes, |field| {
        match field.number {
            1 => found.start = field.varint()?,
            2 => found.limit = field.varint()?,
            3 => found.file_offset = field.varint()?,
            4 => found.filename = field.index()?,
            5 => found.attribute_indices = field.packed()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn location(bytes: &[u8]) -> Decoded<OtlpLocation> {
    let mut found = OtlpLocation::default();
    each("Location", bytes, |field| {
        match field.number {
            1 => found.mapping_index = field.index()?,
            2 => found.address = field.varint()?,
            3 => found.lines.push(numbers("Line", field.bytes()?)?),
            4 => found.attribute_indices = field.packed()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

/// A message whose fields are numbers that are not negative, from 1 on.
fn numbers<const N: usize>(message: &'static str, bytes: &[u8]) -> Decoded<[u64; N]> {
    let mut found = [0; N];
    each(message, bytes, |field| {
        let place = usize::try_from(field.number).unwrap_or(usize::MAX);
        match place.checked_sub(1).and_then(|place| found.get_mut(place)) {
            Some(number) => *number = field.index()?,
            None => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}

fn link(bytes: &[u8]) -> Decoded<(Vec<u8>, Vec<u8>)> {
    let (mut trace, mut span) = (Vec::new(), Vec::new());
    each("Link", bytes, |field| {
        match field.number {
            1 => trace = field.bytes()?.to_vec(),
            2 => span = field.bytes()?.to_vec(),
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok((trace, span))
}

fn key_value_and_unit(bytes: &[u8]) -> Decoded<(u64, OtlpValue, u64)> {
    let (mut key, mut value, mut unit) = (0, OtlpValue::Unset, 0);
    each("KeyValueAndUnit", bytes, |field| {
        match field.number {
            1 => key = field.index()?,
            2 => value = any_value(field.bytes()?)?,
            3 => unit = field.index()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok((key, value, unit))
}

fn stack(bytes: &[u8]) -> Decoded<Vec<u64>> {
    let mut found = Vec::new();
    each("Stack", bytes, |field| {
        match field.number {
            1 => found = field.packed()?,
            _ => return field.unknown(),
        }
        Ok(())
    })?;
    Ok(found)
}
