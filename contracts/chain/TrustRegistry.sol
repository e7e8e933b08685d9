// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Attestations of agents' work, and a score for each agent in which recent work weighs more.
/// @notice An attestation of age 0 weighs 1; its weight falls in a straight line to a half over each half-life, to a
/// quarter over the next, and so on. Between attestations all weights fall alike, so that a score stands still.
contract TrustRegistry {
    struct Agent {
        uint64 count;
        uint64 lastAt;
        uint128 scoreSum;
        uint256 weightSum;
        uint256 weightedSum;
    }

    /// @notice The weight of a new attestation.
    uint256 public constant ONE = 1e18;
    uint256 public constant MAX_SCORE = 100;
    uint256 public constant MAX_URI_BYTES = 512;
    uint256 public immutable halfLifeS;
    address public immutable owner;
    mapping(address => bool) public isAttester;
    uint256 public attestationTotal;
    uint256 public agentTotal;
    mapping(address => Agent) private _agents;
    mapping(bytes32 => bool) private _attested;

    /// @param number Attestations of the agent so far, this one included: the first is 1.
    event Attested(
        address indexed agent,
        address indexed attester,
        bytes32 indexed jobId,
        uint256 number,
        uint256 score,
        uint256 attestedAt,
        string metadataURI
    );
    event AttesterSet(address indexed attester, bool authorised);

    error NotOwner();
    error NotAttester(address caller);
    error ZeroAddress();
    error HalfLifeOutOfRange(uint256 halfLifeS);
    error SelfAttestation();
    error ScoreOutOfRange(uint256 score);
    error JobAttestedBefore(address agent, bytes32 jobId);
    error UriTooLong(uint256 length);

    constructor(uint256 halfLifeS_) {
        if (halfLifeS_ == 0 || halfLifeS_ > 3650 days) revert HalfLifeOutOfRange(halfLifeS_);
        halfLifeS = halfLifeS_;
        owner = msg.sender;
    }

    function setAttester(address attester, bool authorised) external {
        if (msg.sender != owner) revert NotOwner();
        if (attester == address(0)) revert ZeroAddress();
        isAttester[attester] = authorised;
        emit AttesterSet(attester, authorised);
    }

    /// @notice Attest the work of `agent` on a job with 1 to 100. An attester speaks once about an agent's job.
    function attest(address agent, uint256 score, bytes32 jobId, string calldata metadataURI) external {
        if (!isAttester[msg.sender]) revert NotAttester(msg.sender);
        if (agent == address(0)) revert ZeroAddress();
        if (agent == msg.sender) revert SelfAttestation();
        if (score == 0 || score > MAX_SCORE) revert ScoreOutOfRange(score);
        if (bytes(metadataURI).length > MAX_URI_BYTES) revert UriTooLong(bytes(metadataURI).length);
        bytes32 said = keccak256(abi.encode(msg.sender, agent, jobId));
        if (_attested[said]) revert JobAttestedBefore(agent, jobId);
        _attested[said] = true;

        Agent storage known = _agents[agent];
        uint256 age = block.timestamp - known.lastAt;
        known.weightSum = _decayed(known.weightSum, age) + ONE;
        known.weightedSum = _decayed(known.weightedSum, age) + score * ONE;
        known.scoreSum += uint128(score);
        known.lastAt = uint64(block.timestamp);
        if (++known.count == 1) ++agentTotal;
        ++attestationTotal;
        emit Attested(agent, msg.sender, jobId, known.count, score, block.timestamp, metadataURI);
    }

    /// @notice Whether the agent's weighted score is `minScore` or more, and that score; 0 where it has none.
    function meetsTrustThreshold(address agent, uint256 minScore) external view returns (bool meets, uint256 score) {
        score = weightedScore(agent);
        meets = _agents[agent].count > 0 && score >= minScore;
    }

    /// @notice The mean in which recent work weighs more, rounded down; 0 where the agent has no attestation.
    function weightedScore(address agent) public view returns (uint256) {
        Agent storage known = _agents[agent];
        return known.count == 0 ? 0 : known.weightedSum / known.weightSum;
    }

    /// @notice The plain mean, rounded down; 0 where the agent has no attestation.
    function averageScore(address agent) external view returns (uint256) {
        Agent storage known = _agents[agent];
        return known.count == 0 ? 0 : known.scoreSum / known.count;
    }

    function attestationCount(address agent) external view returns (uint256) {
        return _agents[agent].count;
    }

    /// @notice An agent is registered from its first attestation on.
    function registered(address agent) external view returns (bool) {
        return _agents[agent].count > 0;
    }

    /// @dev Rounded so that n times a sum decays to no less than n times what the sum does: equal scores stay equal.
    function _decayed(uint256 sum, uint256 ageS) private view returns (uint256) {
        uint256 halvings = ageS / halfLifeS;
        if (halvings > 255) return 0;
        return (sum >> halvings) * (2 * halfLifeS - ageS % halfLifeS) / (2 * halfLifeS);
    }
}
