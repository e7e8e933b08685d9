// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A price feed with the reading interface of Chainlink's AggregatorV3, whose owner sets the answer.
/// @notice A stand-in for local chains: one hand sets it, so nothing of value may rest on it.
contract ChainlinkFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    uint8 public immutable decimals;
    string public description;
    uint256 public constant version = 1;
    address public immutable owner;
    uint80 public latestRound;
    mapping(uint80 => Round) private _rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner();
    error NoData();

    constructor(uint8 decimals_, string memory description_) {
        decimals = decimals_;
        description = description_;
        owner = msg.sender;
    }

    /// @notice Begin a new round. Any answer is taken, so that readers can be tried on zero and negative ones.
    function setAnswer(int256 answer) external {
        if (msg.sender != owner) revert NotOwner();
        uint80 round = ++latestRound;
        _rounds[round] = Round(answer, block.timestamp);
        emit AnswerUpdated(answer, round, block.timestamp);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return getRoundData(latestRound);
    }

    function getRoundData(uint80 round)
        public
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round memory found = _rounds[round];
        if (found.updatedAt == 0) revert NoData();
        return (round, found.answer, found.updatedAt, found.updatedAt, round);
    }
}
