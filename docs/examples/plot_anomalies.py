"""
=========================================
Anomalies: samples that a density rejects
=========================================

A density model assigns a probability to each sample. ``DensityOutlierDetector`` makes
it a detector with the methods of scikit-learn's. Here a tree of pixels and a mixture
learn the digits 0 to 8. Digits with noise and the digit 9 are to be found.
"""

# %%
# The training data hold no anomalies. The test data are other images of 0 to 8, all
# images of 9, and images in which a tenth of the pixels is flipped.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from sklboolean import BernoulliMixture, DensityOutlierDetector

digits = load_digits()
X = (digits.data > 7).astype(np.uint8)
rng = np.random.default_rng(0)
known = rng.permutation(np.flatnonzero(digits.target != 9))
train, normal = X[known[:1200]], X[known[1200:]]
nines = X[digits.target == 9]
noisy = normal[:100] ^ (rng.random((100, 64)) < 0.1)

detector = DensityOutlierDetector(contamination=0.02).fit(train)
mixture = DensityOutlierDetector(BernoulliMixture(30, random_state=0)).fit(train)
forest = IsolationForest(random_state=0).fit(train)
models = {"tree": detector, "mixture": mixture, "IsolationForest": forest}

# %%
# All rank samples by how normal they are. The area under the ROC curve is the
# probability that a random anomaly ranks below a random normal sample. Neighbouring
# pixels of a nine agree as those of other digits do, and the tree knows pairs of pixels
# only. A mixture has components for whole shapes, and none of them is a nine.
for name, strange in (("nines", nines), ("noise", noisy)):
    test = np.concatenate([normal, strange])
    is_normal = np.arange(len(test)) < len(normal)
    for title, model in models.items():
        area = roc_auc_score(is_normal, model.decision_function(test))
        print(f"{name}: {title} {area:.2f}")

# %%
# The scores are log-likelihoods in nats, so a difference has a meaning: a sample that
# is 10 nats below another is 22 000 times less probable.
bins = np.linspace(-70, 0, 40)
samples = {"digits 0 to 8": normal, "noise": noisy, "nines": nines}
for name, part in samples.items():
    plt.hist(mixture.score_samples(part), bins, density=True, alpha=0.5, label=name)
plt.axvline(mixture.offset_, color="black", linestyle="--", label="threshold")
plt.xlabel("log-likelihood in nats")
plt.ylabel("density")
plt.legend()
plt.show()

# %%
# The most unusual images among those that should be normal are badly written.
order = np.argsort(mixture.score_samples(normal))
figure, axes = plt.subplots(2, 6)
for axis, number in zip(axes.ravel(), [*order[:6], *order[-6:]], strict=True):
    axis.imshow(normal[number].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
axes[0, 0].set_title("least probable", loc="left")
axes[1, 0].set_title("most probable", loc="left")
plt.show()
