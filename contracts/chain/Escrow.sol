// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface ITrust {
    function meetsTrustThreshold(address agent, uint256 minScore) external view returns (bool meets, uint256 score);
}

/// @title Holds funds for a receiver until its trust score is high enough; after a deadline they are the payer's again.
/// @notice Nobody owns it. Released and refunded funds are credited, and whoever they are credited to sends them where
/// it likes, so that an address that refuses a payment holds nobody up. The zero address stands for native coin.
contract Escrow {
    enum State {
        None,
        Held,
        Released,
        Refunded
    }

    struct Deposit {
        address payer;
        address receiver;
        address token;
        uint256 amount;
        uint256 minScore;
        uint256 deadline;
        State state;
    }

    uint256 public constant MAX_TERM_S = 365 days;
    ITrust public immutable registry;
    uint256 public depositTotal;
    mapping(uint256 => Deposit) public deposits;
    /// @notice What an account may withdraw of a token.
    mapping(address => mapping(address => uint256)) public credited;
    bool private transient _entered;

    event Deposited(
        uint256 indexed id,
        address indexed payer,
        address indexed receiver,
        address token,
        uint256 amount,
        uint256 minScore,
        uint256 deadline
    );
    event Released(uint256 indexed id, address indexed receiver, uint256 amount, uint256 score);
    event Refunded(uint256 indexed id, address indexed payer, uint256 amount);
    event Withdrawn(address indexed account, address indexed token, address indexed to, uint256 amount);

    error ZeroAddress();
    error NothingToDo();
    error ScoreOutOfRange(uint256 minScore);
    error DeadlineOutOfRange(uint256 deadline);
    error NotHeld(uint256 id);
    error TooEarly(uint256 deadline);
    error TooLate(uint256 deadline);
    error TrustTooLow(uint256 score, uint256 minScore);
    error TransferFailed();
    error Reentered();

    modifier alone() {
        if (_entered) revert Reentered();
        _entered = true;
        _;
        _entered = false;
    }

    constructor(address registry_) {
        if (registry_.code.length == 0) revert ZeroAddress();
        registry = ITrust(registry_);
    }

    /// @notice Hold the native coin sent along. `minScore` is 1 to 100, `deadline` at most a year ahead.
    function deposit(address receiver, uint256 minScore, uint256 deadline) external payable alone returns (uint256 id) {
        return _hold(receiver, address(0), msg.value, minScore, deadline);
    }

    /// @notice Hold `amount` of an ERC-20 that the caller has approved; what arrives counts, where the token takes a fee.
    function depositToken(address token, uint256 amount, address receiver, uint256 minScore, uint256 deadline)
        external
        alone
        returns (uint256 id)
    {
        if (token == address(0)) revert ZeroAddress();
        uint256 before = _balance(token);
        _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), amount));
        return _hold(receiver, token, _balance(token) - before, minScore, deadline);
    }

    /// @notice Credit a deposit to its receiver, until the deadline and once the receiver's score is high enough.
    function release(uint256 id) external alone {
        Deposit storage held = deposits[id];
        if (held.state != State.Held) revert NotHeld(id);
        if (block.timestamp > held.deadline) revert TooLate(held.deadline);
        (bool meets, uint256 score) = registry.meetsTrustThreshold(held.receiver, held.minScore);
        if (!meets) revert TrustTooLow(score, held.minScore);
        held.state = State.Released;
        credited[held.receiver][held.token] += held.amount;
        emit Released(id, held.receiver, held.amount, score);
    }

    /// @notice Credit a deposit that was not released back to its payer, after the deadline. The registry has no say.
    function refund(uint256 id) external alone {
        Deposit storage held = deposits[id];
        if (held.state != State.Held) revert NotHeld(id);
        if (block.timestamp <= held.deadline) revert TooEarly(held.deadline);
        held.state = State.Refunded;
        credited[held.payer][held.token] += held.amount;
        emit Refunded(id, held.payer, held.amount);
    }

    /// @notice Send all that is credited to the caller of a token to `to`.
    function withdraw(address token, address to) external alone {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = credited[msg.sender][token];
        if (amount == 0) revert NothingToDo();
        credited[msg.sender][token] = 0;
        emit Withdrawn(msg.sender, token, to, amount);
        if (token != address(0)) {
            _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        } else {
            (bool sent,) = to.call{value: amount}("");
            if (!sent) revert TransferFailed();
        }
    }

    function _hold(address receiver, address token, uint256 amount, uint256 minScore, uint256 deadline)
        private
        returns (uint256 id)
    {
        if (receiver == address(0)) revert ZeroAddress();
        if (amount == 0) revert NothingToDo();
        if (minScore == 0 || minScore > 100) revert ScoreOutOfRange(minScore);
        if (deadline <= block.timestamp || deadline > block.timestamp + MAX_TERM_S) revert DeadlineOutOfRange(deadline);
        id = ++depositTotal;
        deposits[id] = Deposit(msg.sender, receiver, token, amount, minScore, deadline, State.Held);
        emit Deposited(id, msg.sender, receiver, token, amount, minScore, deadline);
    }

    function _balance(address token) private view returns (uint256) {
        (bool called, bytes memory answer) =
            token.staticcall(abi.encodeWithSignature("balanceOf(address)", address(this)));
        if (!called || answer.length != 32) revert TransferFailed();
        return abi.decode(answer, (uint256));
    }

    /// @dev Some tokens answer nothing on success, and a call to an address without code also "succeeds".
    function _call(address token, bytes memory data) private {
        (bool called, bytes memory answer) = token.call(data);
        bool accepted = answer.length == 0 ? token.code.length > 0 : abi.decode(answer, (bool));
        if (!called || !accepted) revert TransferFailed();
    }
}
