print("uwbctl")
