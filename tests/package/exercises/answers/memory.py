import torch

from attention_course.exercises.memory import update


def updated(states, patterns, beta):
    return (beta * states @ patterns.T).softmax(-1) @ patterns


def from_the_energy(state, patterns, beta):
    state = state.detach().clone().requires_grad_()
    energy = state @ state / 2 - (beta * patterns @ state).logsumexp(0) / beta
    (gradient,) = torch.autograd.grad(energy, state)
    return (state - gradient).detach()


WRONG = {
    "memory.retrieve": {
        "no softmax": lambda states, patterns, beta: beta * states @ patterns.T @ patterns,
        "two updates": lambda states, patterns, beta: updated(updated(states, patterns, beta), patterns, beta),
    },
    "memory.update": {
        "two steps": lambda state, patterns, beta: update(update(state, patterns, beta), patterns, beta),
        "divides by beta": lambda state, patterns, beta: update(state, patterns, 1 / beta),
        "nearest pattern": lambda state, patterns, beta: patterns[(patterns @ state).argmax()],
    },
}

RIGHT = {
    "memory.retrieve": {"the other way round": updated},
    "memory.update": {"one step by autograd": from_the_energy},
}
