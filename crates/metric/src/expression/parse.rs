//! Tokens to nodes. From the loosest: `if else`, `|`, `^`, `&`, `< >`, `+ -`, `* / %`, the sign.

use super::token::{Keyword, Placed, Token, next_token};
use super::{MetricExpression, Node, Operator, Place};
use crate::{ExpressionError, ExpressionProblem};

pub(super) fn parse(text: &str) -> Result<Vec<Node>, ExpressionError> {
    if text.len() > MetricExpression::MAX_LENGTH {
        return Err(ExpressionError {
            offset: MetricExpression::MAX_LENGTH,
            problem: ExpressionProblem::TooLong,
        });
    }
    let mut parser = Parser {
        text,
        next: next_token(text, 0)?,
        depth: 0,
        nodes: Vec::new(),
    };
    parser.choice()?;
    match parser.peek() {
        Token::End => Ok(parser.nodes),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    next: Placed,
    depth: usize,
    nodes: Vec<Node>,
}

type Parsed = Result<Place, ExpressionError>;

impl Parser<'_> {
    /// `then if condition else otherwise`, or an expression without `if`.
    fn choice(&mut self) -> Parsed {
        self.enter()?;
        let then = self.operation(0)?;
        let place = if self.take_keyword(Keyword::If)? {
            self.rest_of_choice(then)?
        } else {
            then
        };
        self.depth -= 1;
        Ok(place)
    }

    fn rest_of_choice(&mut self, then: Place) -> Parsed {
        let condition = self.operation(0)?;
        if !self.take_keyword(Keyword::Else)? {
            return Err(self.unexpected("else"));
        }
        let otherwise = self.choice()?;
        Ok(self.add(Node::Choice {
            then,
            condition,
            otherwise,
        }))
    }

    /// Operators that bind at least as tightly as `level`.
    fn operation(&mut self, level: u8) -> Parsed {
        let mut left = self.operand()?;
        while let Some((operator, tightness)) = binary_operator(self.peek()) {
            if tightness < level {
                break;
            }
            self.advance()?;
            let right = self.operation(tightness + 1)?;
            left = self.add(Node::Binary(operator, left, right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Parsed {
        let node = match self.peek().clone() {
            Token::Number(number) => Node::Number(number),
            Token::Id(id) => Node::Id(id),
            Token::Constant(name) => Node::Constant(name),
            Token::Sign('-') => return self.negation(),
            Token::Sign('(') => return self.parenthesis(),
            Token::Keyword(keyword) => return self.function(keyword),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance()?;
        Ok(self.add(node))
    }

    fn negation(&mut self) -> Parsed {
        self.enter()?;
        self.advance()?;
        let operand = self.operand()?;
        self.depth -= 1;
        Ok(self.add(Node::Negate(operand)))
    }

    fn parenthesis(&mut self) -> Parsed {
        self.sign('(', "'('")?;
        let place = self.choice()?;
        self.sign(')', "')'")?;
        Ok(place)
    }

    fn function(&mut self, keyword: Keyword) -> Parsed {
        match keyword {
            Keyword::Min => self.of_two(Operator::Minimum),
            Keyword::Max => self.of_two(Operator::Maximum),
            Keyword::Ratio => self.of_two(Operator::Ratio),
            Keyword::SourceCount => self.of_name(Node::SourceCount),
            Keyword::HasEvent => self.of_name(Node::HasEvent),
            Keyword::CpuidMatches => self.of_name(Node::CpuidMatches),
            Keyword::If | Keyword::Else => Err(self.unexpected("a value")),
        }
    }

    fn of_two(&mut self, operator: Operator) -> Parsed {
        self.advance()?;
        self.sign('(', "'('")?;
        let left = self.choice()?;
        self.sign(',', "','")?;
        let right = self.choice()?;
        self.sign(')', "')'")?;
        Ok(self.add(Node::Binary(operator, left, right)))
    }

    fn of_name(&mut self, node: fn(String) -> Node) -> Parsed {
        self.advance()?;
        self.sign('(', "'('")?;
        let Token::Id(id) = self.peek().clone() else {
            return Err(self.unexpected("a name"));
        };
        self.advance()?;
        self.sign(')', "')'")?;
        Ok(self.add(node(id)))
    }

    fn enter(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MetricExpression::MAX_DEPTH {
            return Err(self.error(ExpressionProblem::TooDeep));
        }
        Ok(())
    }

    fn add(&mut self, node: Node) -> Place {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn peek(&self) -> &Token {
        &self.next.token
    }

    fn advance(&mut self) -> Result<(), ExpressionError> {
        self.next = next_token(self.text, self.next.end)?;
        Ok(())
    }

    fn sign(&mut self, sign: char, words: &'static str) -> Result<(), ExpressionError> {
        if *self.peek() != Token::Sign(sign) {
            return Err(self.unexpected(words));
        }
        self.advance()?;
        Ok(())
    }

    fn take_keyword(&mut self, keyword: Keyword) -> Result<bool, ExpressionError> {
        let taken = *self.peek() == Token::Keyword(keyword);
        if taken {
            self.advance()?;
        }
        Ok(taken)
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        self.error(ExpressionProblem::Token {
            expected,
            found: self.peek().words(),
        })
    }

    fn error(&self, problem: ExpressionProblem) -> ExpressionError {
        ExpressionError {
            offset: self.next.offset,
            problem,
        }
    }
}

/// The operator of a token, and how tightly it binds.
fn binary_operator(token: &Token) -> Option<(Operator, u8)> {
    let Token::Sign(sign) = token else {
        return None;
    };
    Some(match sign {
        '|' => (Operator::Or, 0),
        '^' => (Operator::Xor, 1),
        '&' => (Operator::And, 2),
        '<' => (Operator::Less, 3),
        '>' => (Operator::Greater, 3),
        '+' => (Operator::Add, 4),
        '-' => (Operator::Subtract, 4),
        '*' => (Operator::Multiply, 5),
        '/' => (Operator::Divide, 5),
        '%' => (Operator::Remainder, 5),
        _ => return None,
    })
}
