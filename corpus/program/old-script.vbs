CreateObject("WScript.Shell").Run "calc"
