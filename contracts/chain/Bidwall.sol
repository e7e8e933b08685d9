// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A contract that gathers tokens and native coin; its native balance is what the service watches.
/// @notice The owner can take out everything that came in, so nothing gets stuck.
contract Bidwall {
    address public immutable owner;

    event NativeReceived(address indexed from, uint256 value, uint256 balance);
    event NativeWithdrawn(address indexed to, uint256 value);
    event TokenWithdrawn(address indexed token, address indexed to, uint256 value);

    error NotOwner();
    error ZeroAddress();
    error TransferFailed();

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    constructor() {
        owner = msg.sender;
    }

    receive() external payable {
        emit NativeReceived(msg.sender, msg.value, address(this).balance);
    }

    function withdraw(address payable to, uint256 value) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        emit NativeWithdrawn(to, value);
        (bool sent,) = to.call{value: value}("");
        if (!sent) revert TransferFailed();
    }

    function withdrawToken(address token, address to, uint256 value) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        emit TokenWithdrawn(token, to, value);
        (bool called, bytes memory answer) =
            token.call(abi.encodeWithSignature("transfer(address,uint256)", to, value));
        // Some tokens answer nothing on success, and a call to an address without code also "succeeds".
        bool accepted = answer.length == 0 ? token.code.length > 0 : abi.decode(answer, (bool));
        if (!called || !accepted) revert TransferFailed();
    }
}
