#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the least mean error of heights that any live filter can reach in simulated flights.

    Site/Benchmarks/height_bound.py [--paths N]

The anchors and errors are as in FlightScenario.swift. The script draws the errors of anchors, the
slow errors, the noise and the deviation from the path, all with normal distributions, and
linearises the differences at the true path. For this linear model, the Kalman filter with the true
variances has the least error, and its covariance is the posterior Cramér-Rao bound. It receives no
outliers, and the true size of accelerations along each axis.
Needs numpy.
"""
import argparse

import numpy as np

ANCHORS = np.array(
    [(-4, -4, 0.3), (4, -4, 3.1), (4, 4, 0.4), (-4, 4, 3.0), (-4, 0, 3.2), (4, 0, 0.2), (0, 4, 3.1), (0, -4, 0.3)])
#: Differences a second, the size of slow errors in m, and the greatest speed: FlightFigures.swift.
SETTINGS = ((200, 0.05, 1.5), (400, 0.1, 2.0), (1000, 0.2, 2.0), (400, 0.3, 1.5))
SECONDS, SLOW_TIME, NOISE, OUTLIERS, WRONG = 40.0, 2.0, 0.08, 0.05, 0.05
#: Seconds of a flight before the errors count.
START = 3.0
#: The spectral density of accelerations in m²/s³. The waves of a path have 0.3 to 0.7 m/s² along x and y
#: for about half a second, and a twelfth of this power along z.
DENSITY = np.array((0.3, 0.3, 0.3 / 12))


def path(speed, random):
    rates = random.uniform(0.25, 1.3, 3)
    sizes = np.minimum(0.9, speed / 3 / rates)[:, None] * np.array((1, 1, 1 / 3.5))
    phases = random.uniform(0, 6.28, (3, 3))

    def place(time):
        own = 0 if time < 3 else (time - 3) ** 2 / 4 if time < 5 else time - 4
        return np.array((0, 0, 1.5)) + (sizes * np.sin(rates[:, None] * own + phases)).sum(axis=0)

    return place


def flight(rate, slow, speed, draws, random, wrong=WRONG):
    """Returns the errors of all times and axes of each draw, and the variances of heights."""
    dt, count = 1 / rate, len(ANCHORS)
    place = path(speed, random)
    size = 6 + 4 * count
    spread = np.diag(np.concatenate((
        np.full(3, 1.0), np.full(3, 0.1), np.full(3 * count, wrong**2), np.full(count, slow**2))))
    truth = np.sqrt(np.diag(spread))[:, None] * random.standard_normal((size, draws))
    mean = np.zeros((size, draws))
    step = np.eye(6)
    step[:3, 3:] = dt * np.eye(3)
    noise = np.zeros((6, 6))
    for axis in range(3):
        noise[axis, axis] = DENSITY[axis] * dt**3 / 3
        noise[axis, axis + 3] = noise[axis + 3, axis] = DENSITY[axis] * dt**2 / 2
        noise[axis + 3, axis + 3] = DENSITY[axis] * dt
    root = np.linalg.cholesky(noise + 1e-18 * np.eye(6))
    fade = np.exp(-dt / SLOW_TIME)
    decay = np.concatenate((np.ones(6 + 3 * count), np.full(count, fade)))
    last, due, errors, variances = 0, START, [], []
    for number in range(int(SECONDS * rate)):
        for state in (truth, mean):
            state[:6] = step @ state[:6]
            state[-count:] *= fade
        truth[:6] += root @ random.standard_normal((6, draws))
        truth[-count:] += slow * np.sqrt(1 - fade**2) * random.standard_normal((count, draws))
        spread[:6] = step @ spread[:6]
        spread[:, :6] = spread[:, :6] @ step.T
        spread *= decay[:, None] * decay
        spread[:6, :6] += noise
        spread[range(-count, 0), range(-count, 0)] += slow**2 * (1 - fade**2)
        here = place(number * dt)
        other = int(random.integers(count - 1))
        other += other >= last
        if random.uniform() >= OUTLIERS:
            row = np.zeros(size)
            for anchor, sign in ((other, 1), (last, -1)):
                arm = here - ANCHORS[anchor]
                ray = arm / np.linalg.norm(arm)
                row[:3] += sign * ray
                row[6 + 3 * anchor:9 + 3 * anchor] = -sign * ray
                row[6 + 3 * count + anchor] = sign
            column = spread @ row
            gain = column / (row @ column + NOISE**2)
            mean += np.outer(gain, row @ (truth - mean) + NOISE * random.standard_normal(draws))
            spread -= np.outer(gain, column)
        last = other
        if number * dt >= due:
            due += 0.1
            errors.append((mean - truth)[:3])
            variances.append(spread[2, 2])
    return np.array(errors), np.array(variances)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--paths", type=int, default=4, help="paths of each setting (default: 4)")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    print("differences/s | slow errors | mean height error of a flight | deviation of a height | place")
    for name, wrong in (("anchors off by 5 cm", WRONG), ("exact anchors", 1e-6)):
        print(name)
        means = []
        for rate, slow, speed in SETTINGS:
            runs = [flight(rate, slow, speed, 64, random, wrong) for _ in range(arguments.paths)]
            own = np.concatenate([np.abs(errors[:, 2].mean(axis=0)) for errors, _ in runs])
            means.append(own)
            heights = np.sqrt(np.mean([variances for _, variances in runs]))
            places = np.sqrt(np.mean([(errors**2).sum(axis=1) for errors, _ in runs]))
            print(f"{rate} | {slow:.2f} m | {own.mean() * 100:.1f} cm | {heights * 100:.1f} cm | {places * 100:.1f} cm")
        each = np.concatenate(means)
        deviation = np.std([part.mean() for part in np.array_split(each, 4 * arguments.paths)])
        print(f"all | | {each.mean() * 100:.2f} cm ± {deviation / np.sqrt(4 * arguments.paths) * 100:.2f} cm")


main()
