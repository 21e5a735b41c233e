//! The functions that print expressions call: tables, arrays, lengths, clocks and byte order.

use super::ctype::IntType;
use super::eval::constant;
use super::expression::{Binary, Expression};
use super::parser::Parser;
use super::tables::{FlagTable, SymbolTable};
use crate::field::FormatField;

impl Parser<'_> {
    /// The call of `name`, whose `(` is consumed; `None` for functions that are not known.
    pub(super) fn call(&mut self, name: &str) -> Option<Expression> {
        match name {
            "__print_flags" | "__print_flags_u64" => self.flags(),
            "__print_symbolic" | "__print_symbolic_u64" => self.symbols(),
            "__print_hex" => self.hex(true),
            "__print_hex_str" => self.hex(false),
            "__print_array" => self.list(),
            "__get_str"
            | "__get_rel_str"
            | "__get_dynamic_array"
            | "__get_rel_dynamic_array"
            | "__get_sockaddr"
            | "__get_rel_sockaddr" => self.data(),
            "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => self.length(),
            "__get_bitmask" | "__get_rel_bitmask" => self.bits(false),
            "__get_cpumask" | "__get_rel_cpumask" => self.bits(true),
            "__print_ns_to_secs" => self.nanoseconds(Binary::Divide),
            "__print_ns_without_secs" => self.nanoseconds(Binary::Remainder),
            "__builtin_expect" => self.expectation(),
            "sizeof" => self.size_of(),
            _ => self.swapped(name),
        }
    }

    /// An expression and the `)` behind it.
    fn last(&mut self) -> Option<Expression> {
        let value = self.expression()?;
        self.expect(")")?;
        Some(value)
    }

    /// An expression and the `,` behind it.
    fn one_of_more(&mut self) -> Option<Expression> {
        let value = self.expression()?;
        self.expect(",")?;
        Some(value)
    }

    fn flags(&mut self) -> Option<Expression> {
        let value = self.one_of_more()?;
        let delimiter = match self.expression()? {
            Expression::Literal(text) => text,
            Expression::Number(0, _) => Vec::new(),
            _ => return None,
        };
        // A mask is compared bit by bit: the sign of `1 << 31` is no bit of its own.
        let names = self
            .names()?
            .into_iter()
            .map(|(mask, kind, name)| (kind.cut(mask), name))
            .collect();
        Some(Expression::Flags(Box::new(FlagTable {
            value,
            delimiter,
            names,
        })))
    }

    fn symbols(&mut self) -> Option<Expression> {
        let value = self.expression()?;
        let names = self
            .names()?
            .into_iter()
            .map(|(key, _, name)| (key, name))
            .collect();
        Some(Expression::Symbols(Box::new(SymbolTable { value, names })))
    }

    /// `, { number, "name" }, ... )`. Entries whose number is not known here name nothing, and neither does the
    /// one without a name that ends some tables.
    fn names(&mut self) -> Option<Vec<(u64, IntType, Vec<u8>)>> {
        let mut names = Vec::new();
        while self.take(",") {
            let operators = std::mem::take(&mut self.operators);
            names.extend(self.entry()?);
            self.operators = operators;
        }
        self.expect(")")?;
        Some(names)
    }

    /// `{ number, "name" }`; the inner `None` when it names nothing.
    fn entry(&mut self) -> Option<Option<(u64, IntType, Vec<u8>)>> {
        self.expect("{")?;
        let (unknown_before, key) = (self.unknown, self.one_of_more()?);
        let name = self.expression()?;
        self.expect("}")?;
        Some(match name {
            Expression::Literal(name) if unknown_before == self.unknown => {
                Some((constant(&key), key.kind(), name))
            }
            _ => None,
        })
    }

    fn hex(&mut self, apart: bool) -> Option<Expression> {
        let data = Box::new(self.one_of_more()?);
        let length = Box::new(self.last()?);
        Some(Expression::Hex {
            data,
            length,
            apart,
        })
    }

    fn list(&mut self) -> Option<Expression> {
        let (data, count, size) = (self.one_of_more()?, self.one_of_more()?, self.last()?);
        Some(Expression::List(Box::new([data, count, size])))
    }

    /// The field that a helper's only argument names; helpers are written for fields with data elsewhere.
    fn named_field(&mut self) -> Option<Option<FormatField>> {
        let name = self.name()?;
        self.expect(")")?;
        Some(self.field(name))
    }

    fn data(&mut self) -> Option<Expression> {
        let field = self.named_field()?.filter(FormatField::is_dynamic);
        let value = field.map_or(Expression::Literal(Vec::new()), |field| {
            Expression::Data(Box::new(field))
        });
        self.postfix(value)
    }

    fn length(&mut self) -> Option<Expression> {
        Some(Expression::Length(Box::new(self.named_field()??)))
    }

    fn bits(&mut self, ranges: bool) -> Option<Expression> {
        Some(Expression::Bits {
            field: Box::new(self.named_field()??),
            ranges,
        })
    }

    fn nanoseconds(&mut self, op: Binary) -> Option<Expression> {
        let time = Expression::Cast(IntType::U64, Box::new(self.last()?));
        Some(Expression::binary(
            op,
            time,
            Expression::Number(1_000_000_000, IntType::U64),
        ))
    }

    fn expectation(&mut self) -> Option<Expression> {
        let value = self.one_of_more()?;
        self.last()?;
        Some(value)
    }

    fn size_of(&mut self) -> Option<Expression> {
        let size = match self.type_words() {
            Some(words) => IntType::named(&words, self.word)?.size(),
            None => match self.last()? {
                Expression::Field(field) => field.size,
                _ => return None,
            },
        };
        Some(Expression::Number(size as u64, IntType::U64))
    }

    /// Helpers that turn a number's bytes around, where the recording's order asks for it.
    fn swapped(&mut self, name: &str) -> Option<Expression> {
        let size = match name {
            "ntohs" | "htons" | "be16_to_cpu" | "cpu_to_be16" | "__be16_to_cpu" => 2,
            "ntohl" | "htonl" | "be32_to_cpu" | "cpu_to_be32" | "__be32_to_cpu" => 4,
            "be64_to_cpu" | "cpu_to_be64" | "__be64_to_cpu" => 8,
            _ => return None,
        };
        Some(Expression::SwapBytes(
            IntType::new(size, false),
            Box::new(self.last()?),
        ))
    }
}
