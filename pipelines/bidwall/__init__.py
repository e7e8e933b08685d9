"""The contract-balance family: the native balance at a block, and the transfers that touch the contract."""
