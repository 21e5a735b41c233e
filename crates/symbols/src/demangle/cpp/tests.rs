//! Names and what libstdc++ makes of them.

use super::demangle;

/// Each line: a name, a blank, its text.
fn check(cases: &str) {
    for line in cases.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, expected) = line.split_once(' ').expect("a name and its text");
        assert_eq!(demangle(name).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn types_and_declarators() {
    check(
        r#"
        _Z1fPFPFvcEiE f(void (*(*)(int))(char))
        _Z1fPFvvE f(void (*)())
        _Z1fM1AKFvvE f(void (A::*)() const)
        _Z1fM1Ai f(int A::*)
        _Z1fPA3_A4_i f(int (*) [3][4])
        _Z1fRA3_KPFivE f(int (* const (&) [3])())
        _Z1fDv4_f f(float __vector(4))
        _Z1fU8__strongP1A f(A* __strong)
        _Z1fPVKi f(int const volatile*)
        _Z1fDn f(decltype(nullptr))
        _Z1fCf f(float _Complex)
        _Z1fDF16_ f(_Float16)
        _Z1fPDoFvvE f(void (*)() noexcept)
        "#,
    );
}

#[test]
fn members_and_operators() {
    check(
        r#"
        _ZlsRSoRK1A operator<<(std::ostream&, A const&)
        _ZN1AcvT_IiEEv A::operator int<int>()
        _ZN1AcviEv A::operator int()
        _ZNKR1A1fEv A::f() const &
        _Zli2_xy operator"" _x(unsigned long long)
        _ZN1AnaEm A::operator new[](unsigned long)
        _ZNSsC1Ev std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()
        _ZNSs6assignEPKc std::string::assign(char const*)
        _ZNSaIcEC1Ev std::allocator<char>::allocator()
        _ZNK1AssERKS_ A::operator<=>(A const&) const
        _ZN1AltIiEEbT_ bool A::operator< <int>(int)
        _ZN12_GLOBAL__N_11fEv (anonymous namespace)::f()
        _ZN1AB5cxx11Ev A[abi:cxx11]()
        _ZNSt6vectorIiSaIiEED2Ev std::vector<int, std::allocator<int> >::~vector()
        "#,
    );
}

#[test]
fn templates_and_literals() {
    check(
        r#"
        _Z1fILi5EEvv void f<5>()
        _Z1fILin5EEvv void f<-5>()
        _Z1fILb1ELc65ELs3EEvv void f<true, (char)65, (short)3>()
        _Z1fIXadL_Z1gvEEEvv void f<&(g())>()
        _Z1fIXadL_ZN1A1gEvEEEvv void f<&A::g>()
        _Z1fIJiiEEvDpT_ void f<int, int>(int, int)
        _Z1fIJEEvDpT_ void f<>()
        _Z1fIKiEvPKT_ void f<int const>(int const*)
        _Z1fIRiEvOT_ void f<int&>(int&)
        _Z1fIiEvNSt9enable_ifIXsr3std7is_sameIT_iEE5valueEvE4typeE void f<int>(std::enable_if<std::is_same<int, int>::value, void>::type)
        _Z1fIXgtLi1ELi0EEEvv void f<((1)>(0))>()
        _Z1fIiEDTplfp_fp_ET_ decltype ({parm#1}+{parm#1}) f<int>(int)
        _Z1fILd3ff0000000000000EEvv void f<(double)[3ff0000000000000]>()
        "#,
    );
}

#[test]
fn local_and_special_names() {
    check(
        r#"
        _ZGVZ1fvE1x guard variable for f()::x
        _ZTV1A vtable for A
        _ZThn16_N1A1fEv non-virtual thunk to A::f()
        _ZTv0_n24_N1A1fEv virtual thunk to A::f()
        _ZTC1A0_1B construction vtable for B-in-A
        _ZZ1fvE1x_0 f()::x
        _ZZ1fvEs f()::string literal
        _ZN1A1BUt0_1fEv A::B::{unnamed type#2}::f()
        _ZZN1A1fEvENUlvE_clEv A::f()::{lambda()#1}::operator()()
        _ZZN1A1fEvENKUlT_E0_clIiEEDaS0_ auto A::f()::{lambda(auto:1)#2}::operator()<int>(int) const
        _Z4mainv.isra.0.cold main() [clone .isra.0] [clone .cold]
        _Z6clonesPdi.avx2 clones(double*, int) [clone .avx2]
        _Z1fv.part.0.avx512_vnni.4 f() [clone .part.0] [clone .avx512_vnni.4]
        _Z1fv.5a.3 f() [clone .5a.3]
        _ZTWN1A1xE TLS wrapper function for A::x
        "#,
    );
}

#[test]
fn an_empty_pack_takes_its_comma_but_not_the_blank() {
    check("_Z1fI1AI1BIiEJEEEvT_ void f<A<B<int>> >(A<B<int>>)");
}
