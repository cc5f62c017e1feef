//! What is written about the service is so: /openapi.json, docs/configuration.md, docs/http.md.
