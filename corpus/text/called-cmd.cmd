echo hello
