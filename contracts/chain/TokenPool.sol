// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IPoolToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A constant-product pool with the reading interface of a Uniswap v2 pair. For local chains.
/// @notice It knows tokens that answer `true`, as ours do. All liquidity is its owner's: there are no shares.
contract TokenPool {
    address public immutable token0;
    address public immutable token1;
    address public immutable owner;
    uint112 private _reserve0;
    uint112 private _reserve1;
    uint32 private _updatedAt;
    bool private transient _entered;

    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );
    event Sync(uint112 reserve0, uint112 reserve1);

    error NotOwner();
    error SameToken();
    error UnknownToken(address token);
    error OutputTooLow(uint256 output, uint256 needed);
    error ReserveTooLarge();
    error TransferFailed();
    error Reentered();

    modifier alone() {
        if (_entered) revert Reentered();
        _entered = true;
        _;
        _entered = false;
    }

    /// @notice The two tokens in any order; as in a v2 pair, `token0` is the one with the lower address.
    constructor(address one, address other) {
        if (one == other) revert SameToken();
        (token0, token1) = one < other ? (one, other) : (other, one);
        owner = msg.sender;
    }

    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast) {
        return (_reserve0, _reserve1, _updatedAt);
    }

    /// @notice Count what was sent here as liquidity.
    function sync() external alone {
        _sync();
    }

    /// @notice Sell `amountIn` of one of the tokens, with a fee of 0.3 %; at least `minOut` of the other goes to `to`.
    function swap(address tokenIn, uint256 amountIn, uint256 minOut, address to)
        external
        alone
        returns (uint256 amountOut)
    {
        bool sells0 = tokenIn == token0;
        if (!sells0 && tokenIn != token1) revert UnknownToken(tokenIn);
        (uint256 reserveIn, uint256 reserveOut) = sells0 ? (_reserve0, _reserve1) : (_reserve1, _reserve0);
        uint256 paid = amountIn * 997;
        amountOut = (paid * reserveOut) / (reserveIn * 1000 + paid);
        if (amountOut == 0 || amountOut < minOut) revert OutputTooLow(amountOut, minOut);
        if (!IPoolToken(tokenIn).transferFrom(msg.sender, address(this), amountIn)) revert TransferFailed();
        if (!IPoolToken(sells0 ? token1 : token0).transfer(to, amountOut)) revert TransferFailed();
        if (sells0) emit Swap(msg.sender, amountIn, 0, 0, amountOut, to);
        else emit Swap(msg.sender, 0, amountIn, amountOut, 0, to);
        _sync();
    }

    /// @notice Take liquidity out.
    function withdraw(uint256 amount0, uint256 amount1, address to) external alone {
        if (msg.sender != owner) revert NotOwner();
        if (!IPoolToken(token0).transfer(to, amount0)) revert TransferFailed();
        if (!IPoolToken(token1).transfer(to, amount1)) revert TransferFailed();
        _sync();
    }

    function _sync() private {
        uint256 held0 = IPoolToken(token0).balanceOf(address(this));
        uint256 held1 = IPoolToken(token1).balanceOf(address(this));
        if (held0 > type(uint112).max || held1 > type(uint112).max) revert ReserveTooLarge();
        _reserve0 = uint112(held0);
        _reserve1 = uint112(held1);
        _updatedAt = uint32(block.timestamp);
        emit Sync(_reserve0, _reserve1);
    }
}
