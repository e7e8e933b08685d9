// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ServiceToken} from "./ServiceToken.sol";

/// @title The service token of the demo chain. For the demo only: its owner can move anybody's tokens.
/// @notice `move` writes a long history in few transactions. A token with such a power must never hold value.
contract DemoToken is ServiceToken {
    struct Movement {
        address from;
        address to;
        uint256 value;
    }

    constructor(string memory name_, string memory symbol_) ServiceToken(name_, symbol_) {}

    /// @notice Settle `movements` in order, each with its Transfer event; the zero address mints and burns.
    function move(Movement[] calldata movements) external onlyOwner {
        for (uint256 i = 0; i < movements.length; ++i) {
            _settle(movements[i].from, movements[i].to, movements[i].value);
        }
    }
}
