"""The loop that runs an agent's tools on the real SDKs, and what it costs: knows no example, and imports no SDK early."""
