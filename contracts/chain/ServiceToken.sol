// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The service token: a plain ERC-20 with 18 decimals. The owner mints, any holder burns its own.
contract ServiceToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    address public immutable owner;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error NotOwner();
    error ZeroAddress();
    error BalanceTooLow(address account, uint256 balance, uint256 needed);
    error AllowanceTooLow(address spender, uint256 allowed, uint256 needed);

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    constructor(string memory name_, string memory symbol_) {
        name = name_;
        symbol = symbol_;
        owner = msg.sender;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (to == address(0)) revert ZeroAddress();
        _settle(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (from == address(0) || to == address(0)) revert ZeroAddress();
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            if (allowed < value) revert AllowanceTooLow(msg.sender, allowed, value);
            allowance[from][msg.sender] = allowed - value;
        }
        _settle(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        if (spender == address(0)) revert ZeroAddress();
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function mint(address to, uint256 value) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        _settle(address(0), to, value);
    }

    function burn(uint256 value) external {
        _settle(msg.sender, address(0), value);
    }

    /// @dev The one place where balances change. From the zero address is a mint, to it a burn.
    function _settle(address from, address to, uint256 value) internal {
        if (from == address(0)) {
            totalSupply += value;
        } else {
            uint256 balance = balanceOf[from];
            if (balance < value) revert BalanceTooLow(from, balance, value);
            unchecked {
                balanceOf[from] = balance - value;
            }
        }
        // No balance exceeds totalSupply, whose addition above is checked.
        unchecked {
            if (to == address(0)) totalSupply -= value;
            else balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }
}
