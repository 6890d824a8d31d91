"""The loop that runs an agent's tools on the real SDKs, and its bill. Knows no example; imports an
SDK only on use.
"""
