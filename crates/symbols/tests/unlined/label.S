.section .note.GNU-stack,"",@progbits
.text
.globl label
.type label,@function
label:
    mov %rdi, %rax
    call own
    ret
.size label, .-label
.type own,@function
own:
    inc %rax
    ret
.size own, .-own
