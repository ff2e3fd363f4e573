"""Work counted on the emulated device: launches, barriers, sectors and atomics, by kernel and by phase.

``count`` adds up what launches did, ``instrument`` counts a run of a measurement, ``table`` shows a record's ``work``.
"""
