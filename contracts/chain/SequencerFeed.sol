// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Whether an L2's sequencer is up, with the reading interface of Chainlink's uptime feeds. For local chains.
/// @notice `answer` 0 is up and 1 is down; `startedAt` is when that began.
contract SequencerFeed {
    uint8 public constant decimals = 0;
    string public constant description = "L2 Sequencer Uptime Status Feed";
    uint256 public constant version = 1;
    address public immutable owner;
    bool public isDown;
    uint80 private _round;
    uint256 private _startedAt;
    uint256 private _updatedAt;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner();

    constructor() {
        owner = msg.sender;
        _begin(false);
    }

    /// @notice Report the status; only a change of it moves `startedAt`.
    function setDown(bool down) external {
        if (msg.sender != owner) revert NotOwner();
        if (down == isDown) _updatedAt = block.timestamp;
        else _begin(down);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return (_round, _answer(), _startedAt, _updatedAt, _round);
    }

    function _begin(bool down) private {
        isDown = down;
        _startedAt = _updatedAt = block.timestamp;
        emit AnswerUpdated(_answer(), ++_round, block.timestamp);
    }

    function _answer() private view returns (int256) {
        return isDown ? int256(1) : int256(0);
    }
}
