//! Attributes: a key with a value, written whole where a resource has them, by number where a dictionary does.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::super::protobuf;
use super::super::tables::Strings;
use super::fields::{any_value, array_value, dictionary, key_value, key_value_and_unit};

/// Something that is said of samples, or of where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Its name, one of OpenTelemetry's semantic conventions where they have one.
    pub key: Cow<'static, str>,
    /// What is said.
    pub value: AttributeValue,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// Several texts.
    Texts(Vec<String>),
}

impl Attribute {
    /// A text under a key.
    pub fn text(key: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Attribute {
        let (key, value) = (key.into(), AttributeValue::Text(text.into()));
        Attribute { key, value }
    }

    /// A number under a key.
    pub fn number(key: impl Into<Cow<'static, str>>, number: i64) -> Attribute {
        let (key, value) = (key.into(), AttributeValue::Number(number));
        Attribute { key, value }
    }

    /// Appends the message `KeyValue`.
    pub(super) fn write(&self, field: u32, out: &mut Vec<u8>) {
        protobuf::message(field, out, |message| {
            protobuf::bytes(key_value::KEY, self.key.as_bytes(), message);
            protobuf::message(key_value::VALUE, message, |value| self.value.write(value));
        });
    }
}

impl AttributeValue {
    /// Appends the fields of the message `AnyValue`.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            AttributeValue::Text(text) => protobuf::bytes(any_value::STRING, text.as_bytes(), out),
            AttributeValue::Number(number) => {
                protobuf::number(any_value::INT, number.cast_unsigned(), out);
            }
            AttributeValue::Texts(texts) => protobuf::message(any_value::ARRAY, out, |array| {
                for text in texts {
                    protobuf::message(array_value::VALUES, array, |value| {
                        protobuf::bytes(any_value::STRING, text.as_bytes(), value);
                    });
                }
            }),
        }
    }
}

/// The attributes of a dictionary by their numbers, from 1.
#[derive(Default)]
pub(super) struct AttributeTable {
    ids: FxHashMap<Attribute, u64>,
    /// The fields of the dictionary, without the first entry.
    pub(super) fields: Vec<u8>,
}

impl AttributeTable {
    pub(super) fn id(&mut self, attribute: Attribute, strings: &mut Strings) -> u64 {
        let next = self.ids.len() as u64 + 1;
        match self.ids.get(&attribute) {
            Some(&id) => return id,
            None => protobuf::message(dictionary::ATTRIBUTE_TABLE, &mut self.fields, |message| {
                protobuf::number(key_value_and_unit::KEY, strings.id(&attribute.key), message);
                protobuf::message(key_value_and_unit::VALUE, message, |value| {
                    attribute.value.write(value);
                });
            }),
        }
        self.ids.insert(attribute, next);
        next
    }
}
