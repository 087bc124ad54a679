import torch

from attention_course.exercises.memory import energy, given_retrieve, settle

WRONG = {
    "memory.retrieve": {
        "patterns exchanged with states": lambda states, patterns, beta: given_retrieve(patterns, states, beta),
        "no softmax": lambda states, patterns, beta: beta * states @ patterns.T @ patterns,
        "blends the states": lambda states, patterns, beta: (beta * patterns @ states.T).softmax(-1) @ states,
        "the weights": lambda states, patterns, beta: (beta * states @ patterns.T).softmax(-1),
        "two updates": lambda states, patterns, beta: settle(states, patterns, beta, 2),
    },
    "memory.settle": {
        "one step too many": lambda states, patterns, beta, n_steps: settle(states, patterns, beta, n_steps + 1),
        "nearest pattern": lambda states, patterns, beta, n_steps: patterns[(states @ patterns.T).argmax(-1)],
        "asks the states": lambda states, patterns, beta, n_steps: settle(states, states, beta, n_steps),
        "patterns drift": lambda states, patterns, beta, n_steps: settle(
            states, settle(patterns, patterns, beta, 1), beta, n_steps
        ),
        "returns the weights": lambda states, patterns, beta, n_steps: (
            beta * settle(states, patterns, beta, n_steps - 1) @ patterns.T
        ).softmax(-1),
        "squeezed": lambda states, patterns, beta, n_steps: settle(states, patterns, beta, n_steps).squeeze(),
        "complex": lambda *arguments: settle(*arguments) + 1j,
    },
    "memory.energy": {
        "the whole sign": lambda state, patterns, beta: -energy(state, patterns, beta),
        "in bits": lambda state, patterns, beta: (
            state @ state / 2 - (beta * patterns @ state).logsumexp(0) / beta / torch.tensor(2.0).log()
        ),
        "length, not its square": lambda state, patterns, beta: (
            energy(state, patterns, beta) - state @ state / 2 + state.norm() / 2
        ),
        "kept as a vector": lambda state, patterns, beta: energy(state, patterns, beta)[None],
        "beta on the square": lambda state, patterns, beta: beta * energy(state, patterns, beta),
    },
}

RIGHT = {
    "memory.retrieve": {"the other way round": lambda states, patterns, beta: settle(states, patterns, beta, 1)},
    "memory.settle": {
        "one state at a time": lambda states, patterns, beta, n_steps: torch.cat(
            [settle(state[None], patterns, beta, n_steps) for state in states]
        ),
        "double": lambda states, patterns, beta, n_steps: settle(states.double(), patterns.double(), beta, n_steps),
    },
    "memory.energy": {
        "sums and exponentials": lambda state, patterns, beta: (
            (state**2).sum() / 2 - (beta * patterns @ state).exp().sum().log() / beta
        ),
        "a number": lambda state, patterns, beta: energy(state, patterns, beta).item(),
    },
}
