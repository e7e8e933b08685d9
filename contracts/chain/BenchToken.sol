// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ServiceToken} from "./ServiceToken.sol";

/// @title A token that writes its own history, to measure ingestion with. Never for value.
contract BenchToken is ServiceToken {
    constructor(uint256 supply) ServiceToken("Bench", "BENCH") {
        _settle(address(0), msg.sender, supply);
    }

    /// @notice `count` transfers among `holders` pseudo-random accounts: payments from the owner, whole-balance exits,
    /// zero values, self transfers. The same arguments on the same state give the same history.
    function churn(uint256 seed, uint256 count, uint256 holders) external onlyOwner {
        for (uint256 i = 0; i < count; ++i) {
            uint256 dice = uint256(keccak256(abi.encode(seed, i)));
            address from = account(dice % holders);
            address to = account((dice >> 64) % holders);
            uint256 kind = (dice >> 128) % 16;
            uint256 balance = balanceOf[from];
            if (kind == 0) _settle(from, to, 0);
            else if (kind == 1) _settle(from, from, balance);
            else if (balance == 0) _settle(owner, to, (balanceOf[owner] >> 24) + kind);
            else if (kind == 2) _settle(from, to, balance);
            else _settle(from, to, balance / kind);
        }
    }

    function account(uint256 number) public pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode(number)))));
    }
}
